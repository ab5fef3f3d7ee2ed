package genai

import "time"

// Finished holds the facts of a call that has ended.
type Finished struct {
	// Operation, RequestModel and Stream are what the request asked for.
	Operation    Operation
	RequestModel string
	Stream       bool
	// ResponseModel is the model name in the answer.
	ResponseModel string
	// StartTime and EndTime bound the call; Duration is the time between them.
	StartTime, EndTime time.Time
	Duration           time.Duration
	// FirstTokenTime is when the first generated fragment was seen, and
	// TimeToFirstToken the time from StartTime to it. Zero and 0: none was seen,
	// as is always so for answers that are not streamed.
	FirstTokenTime   time.Time
	TimeToFirstToken time.Duration
	// Usage is what the server reported, never an estimate.
	Usage Usage
	// FinishReasons has one entry per choice, as it is recorded.
	FinishReasons []string
	// Outcome is how the call ended, Err the error if it failed.
	Outcome Outcome
	Err     error
}
