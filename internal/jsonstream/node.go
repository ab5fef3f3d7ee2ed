package jsonstream

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of a JSON value.
const (
	String Kind = iota + 1
	Number
	True
	False
	Null
	Object
	Array
)

// Node is a place in a document. A nil *Node is a place nobody watches.
type Node struct {
	// ID is what the handler is told; 0 means the place itself is not reported
	// and only leads to deeper ones.
	ID int
	// Fields are the watched members if the value is an object.
	Fields []Field
	// Elem is the place of each element if the value is an array.
	Elem *Node

	lengths uint64 // a bit for the length of each field's name; 0: see Fields
}

// Index makes the fields of n, and of all below, quicker to tell from those that
// are not watched, and returns n. No reader may use them yet.
func (n *Node) Index() *Node {
	if n == nil || n.lengths != 0 {
		return n
	}
	for _, f := range n.Fields {
		n.lengths |= 1 << (len(f.Name) % 64)
	}
	for _, f := range n.Fields {
		f.Node.Index()
	}
	n.Elem.Index()
	return n
}

// Field is a watched member of an object.
type Field struct {
	Name string
	Node *Node
}

// member returns the place of the member of that name.
func (n *Node) member(name []byte) *Node {
	if n == nil || n.lengths != 0 && n.lengths>>(len(name)%64)&1 == 0 {
		return nil
	}
	for i := range n.Fields {
		if f := &n.Fields[i]; string(name) == f.Name {
			return f.Node
		}
	}
	return nil
}

// Handler hears of the watched values in the order of the document. A value is
// opened, a string then gives its text in any number of decoded pieces, and it
// is closed. Slices are valid only during the call.
type Handler interface {
	Open(id int, k Kind)
	Text(id int, p []byte)
	// Close ends a value. raw is the text of a number, nil for all others.
	Close(id int, k Kind, raw []byte)
}
