package jsonstream

// members reads the members of the innermost object that stand whole in p from the
// quote at i on, those of the objects within and around it too, and returns where
// it stopped. It only takes what is usual: what is cut, spread out, escaped where it
// is watched, or not JSON, is left to the states, which then stand as if they had
// read everything before it.
func (r *Reader) members(p []byte, i int) int {
	in := r.parent()
	for {
		name := p[i+1:]
		n := plainLength(name)
		at := i + n + 3 // after the name, its quote and the colon
		if at >= len(p) || p[at-2] != '"' || p[at-1] != ':' {
			return i
		}
		if p[at] == ' ' && at+1 < len(p) {
			at++
		}
		r.node = in.member(name[:n])
		end := 0
		if p[at] == '{' {
			r.offset = at + 1
			r.openContainer(Object)
			if end = at + 1; r.state != stFirstKey || end == len(p) || p[end] != '"' {
				return end
			}
			i, in = end, r.parent()
			continue
		}
		if end = r.scalar(p, at); end == 0 {
			r.state = stValue
			return at
		}
		r.state = stAfter
		for end < len(p) && p[end] == '}' {
			end++
			if r.closeContainer(); r.depth == 0 || !r.inObject() {
				return end
			}
			in = r.parent()
		}
		if end == len(p) || p[end] != ',' {
			return end
		}
		r.state = stKey
		if end++; end < len(p) && p[end] == ' ' {
			end++
		}
		if end == len(p) || p[end] != '"' {
			return end
		}
		i = end
	}
}

// scalar reads the value at p[at] if it is no container and stands whole in p, and
// returns where it ends, else 0.
func (r *Reader) scalar(p []byte, at int) int {
	k, n := Number, 0
	watched := r.node != nil && r.node.ID != 0
	switch p[at] {
	case '"':
		text := p[at+1:]
		if !watched {
			if n = stringLength(text); n > 0 {
				return at + 1 + n
			}
			return 0
		}
		if n = plainLength(text); n == len(text) || text[n] != '"' {
			return 0
		}
		r.offset = at + 1
		r.handler.Open(r.node.ID, String)
		if n > 0 {
			r.handler.Text(r.node.ID, text[:n])
		}
		r.handler.Close(r.node.ID, String, nil)
		return at + n + 2
	case 'n':
		k, n = Null, literalLength(p[at:], "null")
	case 't':
		k, n = True, literalLength(p[at:], "true")
	case 'f':
		k, n = False, literalLength(p[at:], "false")
	default:
		n = numberLength(p[at:])
	}
	if n == 0 {
		return 0
	}
	if watched {
		var raw []byte
		if k == Number && n <= maxNumber {
			raw = p[at : at+n]
		}
		r.offset = at + 1
		r.handler.Open(r.node.ID, k)
		r.handler.Close(r.node.ID, k, raw)
	}
	return at + n
}

func literalLength(p []byte, want string) int {
	if len(p) < len(want) || string(p[:len(want)]) != want {
		return 0
	}
	return len(want)
}

// stringLength returns the length of the rest of a string, with its quote, or 0 if
// it is cut or broken, or has an escape by number.
func stringLength(p []byte) int {
	for n := 0; ; n += 2 {
		n += plainLength(p[n:])
		switch {
		case n == len(p):
			return 0
		case p[n] == '"':
			return n + 1
		case p[n] != '\\' || n+1 == len(p) || escapes[p[n+1]] == 0:
			return 0
		}
	}
}

// numberLength returns the length of a number, or 0 if it is cut or broken. It is
// cut if nothing follows it.
func numberLength(p []byte) int {
	n := 0
	if p[0] == '-' {
		n = 1
	}
	switch {
	case n < len(p) && p[n] == '0':
		n++
	default:
		if n = digits(p, n); n == 0 {
			return 0
		}
	}
	if n < len(p) && p[n] == '.' {
		if n = digits(p, n+1); n == 0 {
			return 0
		}
	}
	if n < len(p) && (p[n] == 'e' || p[n] == 'E') {
		if n++; n < len(p) && (p[n] == '+' || p[n] == '-') {
			n++
		}
		if n = digits(p, n); n == 0 {
			return 0
		}
	}
	if n == len(p) {
		return 0
	}
	return n
}

// digits returns where the digits from n on end, or 0 if there are none.
func digits(p []byte, n int) int {
	from := n
	for n < len(p) && p[n]-'0' <= 9 {
		n++
	}
	if n == from {
		return 0
	}
	return n
}
