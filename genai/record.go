package genai

import (
	"math"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/log"

	"github.com/infertel/infertel-go/internal/boundedtext"
	"github.com/infertel/infertel-go/semconv"
)

// layout is the part of an entry span's attribute set that depends on the
// engine and the request.
type layout struct {
	userID, sessionID        bool
	requestID, toolCalls     bool
	responseModel, cacheRead bool
	latency, tokensStreamed  bool
}

// layout follows spans.vllm.entry and spans.sglang.entry. SGLang documents
// chat and text completion only; the others are emitted as on vLLM.
func (i *Instrumentation) layout(r *Request) layout {
	if i.engine != EngineSGLang || !r.Operation.generates() {
		return layout{userID: true, sessionID: r.Stream, responseModel: true}
	}
	chatStream := r.Stream && r.Operation == OperationChat
	return layout{
		requestID: chatStream, toolCalls: chatStream,
		responseModel: !r.Stream, cacheRead: true, latency: true, tokensStreamed: r.Stream,
	}
}

// attributePool keeps the slices in which attributes are gathered: the SDK
// copies what it is given.
var attributePool = sync.Pool{New: func() any { s := make([]attribute.KeyValue, 0, 32); return &s }}

// record writes everything that was not known at the start. What matters most
// comes first, since the SDK drops attributes beyond its limit.
func (c *Call) record(failure *Error, reasons []string, duration time.Duration) {
	pooled := attributePool.Get().(*[]attribute.KeyValue)
	a := (*pooled)[:0]
	r, resp := &c.request, &c.response
	l := c.inst.layout(r)

	if r.Model != "" && !c.named {
		a = append(a, semconv.GenAIRequestModel(r.Model))
	}
	a = c.appendUsage(a, l)
	if len(reasons) > 0 {
		a = append(a, semconv.GenAIResponseFinishReasons(reasons...))
	}
	a = append(a, semconv.GenAIRequestIsStream(r.Stream))
	if l.latency {
		a = append(a, semconv.GenAILatencyE2ESeconds(duration))
	}
	a = appendSampling(a, r)
	a = appendString(a, l.userID, semconv.GenAIUserIDKey, r.UserID)
	a = appendString(a, l.sessionID, semconv.SessionIDKey, r.SessionID, r.ID, resp.ID)
	a = appendString(a, l.requestID, semconv.GenAIRequestIDKey, r.ID, resp.ID)
	a = appendString(a, true, semconv.GenAIResponseIDKey, resp.ID)
	a = appendString(a, l.responseModel, semconv.GenAIResponseModelKey, resp.Model)
	if failure != nil {
		c.span.SetStatus(codes.Error, boundedtext.Cut(failure.Description, boundedtext.MaxName))
		if c.inst.errorType {
			a = append(a, attribute.String("error.type", boundedtext.Cut(failure.typeName(), boundedtext.MaxName)))
		}
	}
	if l.toolCalls {
		a = append(a, semconv.GenAIRequestHasToolCalls(r.HasTools))
	}
	a = c.appendContent(a)
	if l.toolCalls {
		a = c.appendToolCalls(a)
	}

	c.span.SetAttributes(a...)
	clear(a) // keep no content alive
	*pooled = a[:0]
	attributePool.Put(pooled)
}

func (c *Call) appendUsage(a []attribute.KeyValue, l layout) []attribute.KeyValue {
	resp := &c.response
	input, hasInput := count(resp.Usage.InputTokens)
	output, hasOutput := count(resp.Usage.OutputTokens)
	total, hasTotal := count(resp.Usage.TotalTokens)
	if l.tokensStreamed {
		interval := c.inst.streamInterval
		streamed := min(max(resp.Increments, 0), maxCount/interval) * interval
		a = append(a, semconv.GenAIResponseTokensStreamed(streamed))
		if !hasInput && !hasOutput && !hasTotal && streamed > 0 {
			// The server returned no usage: the estimate stands in on the span.
			output, hasOutput = streamed, true
		}
	}
	if !hasTotal && hasInput && (hasOutput || !c.request.Operation.generates()) {
		total, hasTotal = input+output, true
	}
	if hasInput {
		a = append(a, semconv.GenAIUsageInputTokens(input))
	}
	if hasOutput {
		a = append(a, semconv.GenAIUsageOutputTokens(output))
	}
	if hasTotal {
		a = append(a, semconv.GenAIUsageTotalTokens(total))
	}
	if cached, ok := count(resp.Usage.CacheReadInputTokens); ok && l.cacheRead {
		a = append(a, semconv.GenAIUsageCacheReadInputTokens(cached))
	}
	return a
}

// maxCount is more than any request can have. A broken server must not make a
// counter or a sum overflow.
const maxCount = min(1<<53, math.MaxInt/2)

// count takes a reported number of tokens if it can be one.
func count(n *int) (int, bool) {
	if n == nil || *n < 0 || *n > maxCount {
		return 0, false
	}
	return *n, true
}

func appendSampling(a []attribute.KeyValue, r *Request) []attribute.KeyValue {
	if r.ChoiceCount != nil {
		a = append(a, semconv.GenAIRequestChoiceCount(*r.ChoiceCount))
	}
	if r.Temperature != nil {
		a = append(a, semconv.GenAIRequestTemperature(*r.Temperature))
	}
	if r.TopP != nil {
		a = append(a, semconv.GenAIRequestTopP(*r.TopP))
	}
	if r.TopK != nil {
		a = append(a, semconv.GenAIRequestTopK(*r.TopK))
	}
	if r.MaxTokens != nil {
		a = append(a, semconv.GenAIRequestMaxTokens(*r.MaxTokens))
	}
	return a
}

// appendString adds the first of values that is set.
func appendString(a []attribute.KeyValue, wanted bool, key attribute.Key, values ...string) []attribute.KeyValue {
	if !wanted {
		return a
	}
	for _, v := range values {
		if v != "" {
			return append(a, key.String(boundedtext.Cut(v, boundedtext.MaxName)))
		}
	}
	return a
}

func (c *Call) appendToolCalls(a []attribute.KeyValue) []attribute.KeyValue {
	resp := &c.response
	total := 0
	for _, calls := range resp.ToolCalls {
		total += len(calls)
	}
	total = max(total, resp.ToolCallCount)
	a = append(a, semconv.GenAIRequestToolCallDetected(total > 0), semconv.GenAIRequestToolCallsCount(total))
	left := maxToolCalls
	for i, calls := range resp.ToolCalls {
		for j := range calls {
			if left == 0 {
				return a
			}
			left--
			if calls[j].Name != "" {
				a = append(a, semconv.GenAICompletionsToolCallsName(i, j, boundedtext.Cut(calls[j].Name, boundedtext.MaxName)))
			}
			if !c.inst.noArguments {
				a = append(a, semconv.GenAICompletionsToolCallsArguments(i, j, boundedtext.Cut(calls[j].Arguments, maxArguments)))
			}
		}
	}
	return a
}

// appendContent records the messages where the content mode says so.
func (c *Call) appendContent(a []attribute.KeyValue) []attribute.KeyValue {
	in, out, limit := c.request.Messages, c.response.Messages, c.inst.contentLength
	if len(in) == 0 && len(out) == 0 {
		return a
	}
	if c.inst.content.onSpan() {
		if len(in) > 0 {
			a = append(a, semconv.GenAIInputMessages(messagesJSON(in, limit)))
		}
		if len(out) > 0 {
			a = append(a, semconv.GenAIOutputMessages(messagesJSON(out, limit)))
		}
	}
	if c.inst.content.onEvent() {
		c.emitEvent(in, out, limit)
	}
	return a
}

func (c *Call) emitEvent(in, out []Message, limit int) {
	const name = semconv.EventInferenceOperationDetails
	if !c.inst.logger.Enabled(&c.ctx, log.EnabledParameters{EventName: name, Severity: log.SeverityInfo}) {
		return
	}
	var e log.Record
	e.SetEventName(name)
	e.SetSeverity(log.SeverityInfo)
	e.SetTimestamp(time.Now())
	if len(in) > 0 {
		e.AddAttributes(attribute.KeyValue{Key: semconv.GenAIInputMessagesKey, Value: messagesValue(in, limit)})
	}
	if len(out) > 0 {
		e.AddAttributes(attribute.KeyValue{Key: semconv.GenAIOutputMessagesKey, Value: messagesValue(out, limit)})
	}
	c.inst.logger.Emit(&c.ctx, e)
}
