package simengine

// cache is a paged KV cache: a fixed number of blocks of a few tokens each. A
// full block of a prompt is known by the hash of all tokens up to its end, so
// that requests with the same beginning share it. Blocks that nobody uses any
// more keep their content until they are needed, the longest unused first.
type cache struct {
	blocks []block
	free   []int // without content
	byHash map[uint64]int
	// unused blocks with content, in the order in which they became so
	oldest, newest int
	used           int
}

type block struct {
	refs       int
	hash       uint64 // 0: no content that others could share
	prev, next int    // among the unused, -1 at the ends
}

const none = -1

func newCache(blocks int) *cache {
	c := &cache{blocks: make([]block, blocks), byHash: map[uint64]int{}, oldest: none, newest: none}
	for i := blocks - 1; i >= 0; i-- {
		c.free = append(c.free, i)
	}
	return c
}

// available is how many blocks could be allocated now.
func (c *cache) available() int { return len(c.blocks) - c.used }

// match returns how many of the blocks with these hashes, from the first on, are
// there.
func (c *cache) match(hashes []uint64) int {
	for i, h := range hashes {
		if _, ok := c.byHash[h]; !ok {
			return i
		}
	}
	return len(hashes)
}

// share takes the blocks with these hashes, all of which must be there.
func (c *cache) share(hashes []uint64) []int {
	ids := make([]int, len(hashes))
	for i, h := range hashes {
		id := c.byHash[h]
		c.hold(id)
		ids[i] = id
	}
	return ids
}

func (c *cache) hold(id int) {
	b := &c.blocks[id]
	if b.refs == 0 {
		c.unlink(id)
		c.used++
	}
	b.refs++
}

// grow makes ids n blocks long. It changes nothing if there is no room.
func (c *cache) grow(ids *[]int, n int) bool {
	more := n - len(*ids)
	if more <= 0 {
		return true
	}
	if more > c.available() {
		return false
	}
	for range more {
		*ids = append(*ids, c.allocate())
	}
	return true
}

func (c *cache) allocate() int {
	var id int
	if n := len(c.free); n > 0 {
		id = c.free[n-1]
		c.free = c.free[:n-1]
	} else {
		id = c.oldest
		c.unlink(id)
		delete(c.byHash, c.blocks[id].hash)
	}
	c.blocks[id] = block{refs: 1, prev: none, next: none}
	c.used++
	return id
}

// publish says that the blocks now hold what the hashes stand for.
func (c *cache) publish(ids []int, hashes []uint64) {
	for i := range min(len(ids), len(hashes)) {
		b := &c.blocks[ids[i]]
		if _, known := c.byHash[hashes[i]]; b.hash == 0 && !known {
			b.hash = hashes[i]
			c.byHash[hashes[i]] = ids[i]
		}
	}
}

// release gives blocks back. The last ones of a prompt become old first: what
// many prompts begin with is worth the most.
func (c *cache) release(ids []int) {
	for i := len(ids) - 1; i >= 0; i-- {
		b := &c.blocks[ids[i]]
		if b.refs--; b.refs > 0 {
			continue
		}
		c.used--
		if b.hash == 0 {
			c.free = append(c.free, ids[i])
			continue
		}
		b.prev, b.next = c.newest, none
		if c.newest != none {
			c.blocks[c.newest].next = ids[i]
		} else {
			c.oldest = ids[i]
		}
		c.newest = ids[i]
	}
}

func (c *cache) unlink(id int) {
	b := &c.blocks[id]
	if b.prev != none {
		c.blocks[b.prev].next = b.next
	} else if c.oldest == id {
		c.oldest = b.next
	}
	if b.next != none {
		c.blocks[b.next].prev = b.prev
	} else if c.newest == id {
		c.newest = b.prev
	}
	b.prev, b.next = none, none
}

// prefixHashes returns the hash of each full block of the prompt. The last token
// is left out: an engine has to compute at least that one.
func prefixHashes(prompt []int, blockSize int) []uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	var out []uint64
	h := uint64(offset)
	for i, t := range prompt[:max(len(prompt)-1, 0)] {
		h = (h ^ uint64(t)) * prime
		if (i+1)%blockSize == 0 {
			out = append(out, h|1) // never 0
		}
	}
	return out
}

// blocksFor returns how many blocks hold n tokens.
func blocksFor(n, blockSize int) int { return (n + blockSize - 1) / blockSize }
