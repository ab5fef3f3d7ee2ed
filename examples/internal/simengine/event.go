package simengine

import "time"

// Kind is what happened.
type Kind uint8

// The kinds of event. Those of the frontend come once; those of a scheduler come
// once for each of its ranks, each with the times of that rank.
const (
	// Frontend.
	Arrived      Kind = iota
	Tokenized         // Start, At
	Dispatched        // Start, At: handed to the scheduler, or the controller of DP ranks
	DPDispatched      // Start, At: handed on by the controller
	Delivered         // Tokens, First: they reached the client
	Finished          // Reason; the frontend is done with the request

	// Scheduler, of one request.
	Received  // Start, At: from its arrival to its place in the queue
	Scheduled // first put into a batch
	Prefill   // Start, At, Batch, Prompt, Last, Tokens: one iteration over a part of the prompt
	Decode    // Start, At, Batch, Count, Tokens, Draft: one iteration that puts out tokens
	Evicted   // its KV cache was taken away, and it waits again
	Released  // Reason; the scheduler is done with the request

	// KV cache from elsewhere.
	PullStarted
	PullFinished // Prompt: tokens that were pulled, Failed

	// Prefill and decode on two nodes, scheduler.
	Prepared     // Start, At
	Bootstrapped // Start, At: the connection between the two nodes
	Sent         // Start, At: KV cache to the decode node
	Transferred  // Start, At: the wait for it there
	Prebuilt     // Start, At, Batch: the output of the prefill is completed on the decode node

	// Scheduler as a whole, Request is nil.
	Iterated // Stats
)

// Mode is what a batch computes.
type Mode uint8

// The modes.
const (
	ModeMixed Mode = iota
	ModePrefill
	ModeDecode
	ModePrebuilt
)

// Batch is the batch that a request was part of.
type Batch struct {
	ID   string
	Size int
	Mode Mode
	// Micro is the number of the micro-batch under pipeline parallelism.
	Micro int
	// CPU is how much of an iteration was spent on the CPU before the forward pass.
	CPU time.Duration
}

// Draft is the course of a speculative iteration, in order.
type Draft struct {
	Draft, Verify, Extend time.Duration
	Correct               int // draft tokens that were right
}

// Stats is what a scheduler knows of itself. The counts are those since the
// report before.
type Stats struct {
	Running, Waiting, Swapped     int
	UsedBlocks, Blocks, BlockSize int
	CPUUsed, CPUBlocks            int
	Queried, Hit                  int // prompt tokens looked up in the prefix cache
	Prompt, Generated, Preempted  int
	Verified, Accepted            int // speculative iterations, and tokens out of them
	Iterations                    int
	Throughput                    float64 // tokens put out in a second
	CacheHitRate                  float64
	AcceptLength                  float64 // tokens out of a speculative iteration
}

// Event is something that happened. Which fields say something depends on Kind.
type Event struct {
	Kind       Kind
	Start, At  time.Time
	Request    *Request
	DP, TP, PP int
	Batch      Batch
	Tokens     []Token
	Prompt     int
	First      bool // of Delivered: the first output
	Last       bool // of Prefill: the prompt is done
	Count      int
	Draft      *Draft
	Reason     Reason
	Failed     bool
	Stats      *Stats
}

// Observer is told what happens, in the order in which it becomes known. It must
// not keep Tokens.
type Observer interface {
	Observe(Event)
}

// ObserverFunc is a function that observes.
type ObserverFunc func(Event)

// Observe calls f.
func (f ObserverFunc) Observe(e Event) { f(e) }
