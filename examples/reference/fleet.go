package main

import (
	"errors"
	"os"
	"time"

	"github.com/infertel/infertel-go/examples/internal/session"
	"github.com/infertel/infertel-go/examples/internal/simengine"
	"github.com/infertel/infertel-go/genai"
	"github.com/infertel/infertel-go/sglang"
	"github.com/infertel/infertel-go/vllm"
)

const (
	kindV0     = "vllm-v0"
	kindV1     = "vllm-v1"
	kindSGLang = "sglang"
	kindAll    = "all"
)

const (
	blockSize  = 4
	maxClients = 6 // that talk to an engine at the same time
	maxBatch   = 8
)

// deployment is one engine, or two that share their requests, with its clients.
type deployment struct {
	name    string
	load    workload
	engines []*simengine.Engine
	send    func(r httpRequest, done func())
}

// fleet is everything that is simulated in a run.
type fleet struct {
	flags       *flags
	sim         *simengine.Sim
	session     *session.Session
	spans       *spanBudget
	fault       func(error)
	deployments []*deployment
	doors       []*door
	closers     []func() error
	finished    int                   // requests
	observe     func(simengine.Event) // sees all events too
}

// build makes the engines of the kinds that were asked for.
func (f *fleet) build() error {
	kinds := map[string][]func() error{
		kindV0:     {f.v0},
		kindV1:     {f.v1, f.v1Disaggregated, f.v1Pooling},
		kindSGLang: {f.sglangParallel, f.sglangPipeline, f.sglangDisaggregated, f.sglangPooling},
	}
	var errs []error
	for _, kind := range []string{kindV0, kindV1, kindSGLang} {
		if f.flags.engine != kind && f.flags.engine != kindAll {
			continue
		}
		for _, make := range kinds[kind] {
			errs = append(errs, make())
		}
	}
	return errors.Join(errs...)
}

func (f *fleet) clients() int { return min(f.flags.requests, maxClients) }

// blocks sizes a KV cache for clients that ask at the same time. A tight one has
// no room for all that they ask for, so that requests have to make way.
func (f *fleet) blocks(clients, shared, draft int, tight bool) int {
	prompts := blocksFor(shared) + clients*(blocksFor(promptTokens-shared)+1)
	growth := clients * (blocksFor(f.flags.tokens+draft) + 1)
	if tight {
		growth /= 4
	}
	return max(prompts+growth, blocksFor(promptTokens+f.flags.tokens+draft)+2)
}

func blocksFor(tokens int) int { return (tokens + blockSize - 1) / blockSize }

// engine makes a simulated engine.
func (f *fleet) engine(d *deployment, name string, c simengine.Config, obs simengine.Observer) *simengine.Engine {
	c.Name, c.Seed, c.BlockSize = name, f.flags.seed, blockSize
	if c.MaxBatch == 0 {
		c.MaxBatch = maxBatch
	}
	if f.observe != nil {
		inner := obs
		obs = simengine.ObserverFunc(func(e simengine.Event) { f.observe(e); inner.Observe(e) })
	}
	e, err := simengine.NewEngine(f.sim, c, obs)
	if err != nil {
		f.fault(err)
		return nil
	}
	d.engines = append(d.engines, e)
	return e
}

func (f *fleet) deploy(name, model string, sglang, leave, pooling bool) *deployment {
	d := &deployment{name: name, load: workload{seed: f.flags.seed, name: name, model: model, sglang: sglang, tokens: f.flags.tokens, leave: leave, pooling: pooling}}
	f.deployments = append(f.deployments, d)
	return d
}

// door makes the API layer of an engine. What the environment says of content
// goes before content, which is made up anyhow.
func (f *fleet) door(engine genai.Engine, content genai.ContentMode, next func(httpRequest, httpClient)) *door {
	opts := []genai.Option{
		genai.WithTracerProvider(f.session.TracerProvider()),
		genai.WithMeterProvider(f.session.MeterProvider()),
		genai.WithLoggerProvider(f.session.LoggerProvider()),
		genai.WithEngine(engine),
	}
	if os.Getenv(genai.EnvCaptureContent) == "" {
		opts = append(opts, genai.WithContent(content))
	}
	inst, err := genai.New(opts...)
	if err != nil {
		f.fault(err)
	}
	d := &door{sim: f.sim, inst: inst, open: map[*observedClient]bool{}, next: func(r httpRequest, c httpClient) {
		f.spans.add(1)
		next(r, c)
	}}
	f.doors = append(f.doors, d)
	return d
}

// one serves a deployment of a single engine.
func (f *fleet) one(d *deployment, e *simengine.Engine, flavor genai.Engine, content genai.ContentMode) {
	a := &api{engine: e, flavor: flavor, fault: f.fault}
	front := f.door(flavor, content, func(r httpRequest, c httpClient) { a.serve(r, c, nil) })
	d.send = func(r httpRequest, done func()) { front.serve(r, &client{done: done}) }
}

// v0 is a V0 engine, which swaps blocks to the CPU when its cache is full.
func (f *fleet) v0() error {
	d := f.deploy(kindV0, "qwen2.5-7b", false, false, false)
	t, err := vllm.NewEngineV0(d.load.model, vllm.WithTracerProvider(f.session.TracerProvider()), vllm.WithMeterProvider(f.session.MeterProvider()))
	if err != nil {
		return err
	}
	f.closers = append(f.closers, t.Close)
	blocks := f.blocks(f.clients(), 0, 0, true)
	e := f.engine(d, d.name, simengine.Config{Policy: simengine.Swap, Blocks: blocks, CPUBlocks: blocks / 2, TokenBudget: 512},
		&vllmV0{engine: t, spans: f.spans, fault: f.fault})
	f.one(d, e, genai.EngineVLLM, genai.ContentSpan)
	return nil
}

func (f *fleet) v1Options() []vllm.OptionV1 {
	return []vllm.OptionV1{
		vllm.WithTracerProvider(f.session.TracerProvider()),
		vllm.WithMeterProvider(f.session.MeterProvider()),
		vllm.WithGranularity(vllm.Granularity(f.flags.granularity)),
		vllm.WithEventCoalescing(), // so that no token of a long answer is lost
	}
}

// v1Telemetry makes the telemetry of an EngineCore.
func (f *fleet) v1Telemetry(model string, index int, role vllm.PDRole) (*vllmV1, error) {
	t, err := vllm.NewEngineV1(vllm.EngineConfig{Model: model, Index: index, PDRole: role}, f.v1Options()...)
	if err != nil {
		return nil, err
	}
	f.closers = append(f.closers, t.Close)
	return &vllmV1{engine: t, spans: f.spans, fault: f.fault}, nil
}

// v1 is an engine with chunked prefill, a prefix cache, preemption, and a
// connector to a KV store that holds what all chats begin with.
func (f *fleet) v1() error {
	d := f.deploy(kindV1, "qwen3-8b", false, true, false)
	t, err := f.v1Telemetry(d.load.model, 0, vllm.PDRoleNone)
	if err != nil {
		return err
	}
	e := f.engine(d, d.name, simengine.Config{
		Policy: simengine.Preempt, Blocks: f.blocks(f.clients(), systemWords, 0, true), PrefixCache: true,
		TokenBudget: 64, Store: simengine.NewStore(blockSize, d.load.sharedPrompt()),
	}, t)
	f.one(d, e, genai.EngineVLLM, genai.ContentSpan)
	return nil
}

// v1Disaggregated is a prefill node, the producer of KV cache, and a decode node
// that pulls it, behind a router.
func (f *fleet) v1Disaggregated() error {
	d := f.deploy(kindV1+"-pd", "qwen3-32b", false, false, false)
	producer, err := f.v1Telemetry(d.load.model, 1, vllm.PDRoleProducer)
	if err != nil {
		return err
	}
	consumer, err := f.v1Telemetry(d.load.model, 2, vllm.PDRoleConsumer)
	if err != nil {
		return err
	}
	blocks := f.blocks(f.clients(), 0, 0, false)
	prefill := &api{flavor: genai.EngineVLLM, role: simengine.PrefillNode, fault: f.fault}
	prefill.engine = f.engine(d, d.name+"-prefill", simengine.Config{Policy: simengine.Preempt, Role: simengine.PrefillNode, Blocks: blocks, PrefixCache: true,
		TokenBudget: 512, Store: simengine.NewStore(blockSize, d.load.sharedPrompt())}, producer)
	decode := &api{flavor: genai.EngineVLLM, fault: f.fault}
	decode.engine = f.engine(d, d.name+"-decode", simengine.Config{Policy: simengine.Preempt, Role: simengine.DecodeNode, Blocks: blocks, TokenBudget: 512}, consumer)
	front := f.door(genai.EngineVLLM, genai.ContentEvent, func(r httpRequest, c httpClient) {
		h := &simengine.Handover{Ready: true}
		// The answer of the prefill node is of no interest, only its end.
		prefill.serve(r, &client{done: func() {
			f.sim.After(networkTime, func() { decode.serve(r, c, h) })
		}}, h)
	})
	d.send = func(r httpRequest, done func()) { front.serve(r, &client{done: done}) }
	return nil
}

// v1Pooling is an engine that embeds and ranks.
func (f *fleet) v1Pooling() error {
	d := f.deploy(kindV1+"-pooling", "bge-m3", false, false, true)
	t, err := f.v1Telemetry(d.load.model, 3, vllm.PDRoleNone)
	if err != nil {
		return err
	}
	e := f.engine(d, d.name, simengine.Config{Policy: simengine.Preempt, Blocks: f.blocks(f.clients(), 0, 0, false), TokenBudget: 512}, t)
	f.one(d, e, genai.EngineVLLM, genai.ContentSpanAndEvent)
	return nil
}

// sglangTelemetry makes the telemetry of an engine and its processes.
func (f *fleet) sglangTelemetry(model string, role simengine.Role, host string, tp, pp, dp, tokenizers int) (*sglangEngine, error) {
	roles := map[simengine.Role]sglang.PDRole{simengine.PrefillNode: sglang.PDRolePrefill, simengine.DecodeNode: sglang.PDRoleDecode}
	opts := []sglang.Option{
		sglang.WithTracerProvider(f.session.TracerProvider()),
		sglang.WithMeterProvider(f.session.MeterProvider()),
		sglang.WithTraceLevel(sglang.Level(f.flags.traceLevel)),
	}
	config := sglang.EngineConfig{Model: model, PDRole: roles[role]}
	frontend, err := sglang.NewEngine(config, opts...)
	if err != nil {
		return nil, err
	}
	worker, err := sglang.NewEngine(config, opts...)
	if err != nil {
		return nil, err
	}
	return &sglangEngine{frontend: frontend, worker: worker, tokenizers: tokenizers, host: host, tp: tp, pp: pp, dp: dp, role: role, spans: f.spans, fault: f.fault}, nil
}

const (
	hostOne = "9f86d081884c7d659a2feaa0c55ad015"
	hostTwo = "60303ae22b998861bce3b28f33eec1be"
)

// sglangParallel has data and tensor parallelism, several tokenizers, speculative
// decoding, and a cache so small that requests are retracted.
func (f *fleet) sglangParallel() error {
	const tp, dp, draft = 2, 2, 3
	d := f.deploy(kindSGLang, "Qwen/Qwen3-8B", true, true, false)
	t, err := f.sglangTelemetry(d.load.model, simengine.Both, hostOne, tp, 1, dp, 2)
	if err != nil {
		return err
	}
	e := f.engine(d, d.name, simengine.Config{
		Policy: simengine.Retract, TP: tp, DP: dp, Blocks: f.blocks((f.clients()+1)/dp, systemWords, draft, true), PrefixCache: true,
		TokenBudget: 256, DraftTokens: draft, StatsEvery: 4,
	}, t)
	f.one(d, e, genai.EngineSGLang, genai.ContentSpan)
	return nil
}

// sglangPipeline has pipeline parallelism and prefills prompts in chunks.
func (f *fleet) sglangPipeline() error {
	const pp = 2
	d := f.deploy(kindSGLang+"-pp", "deepseek-ai/DeepSeek-V3", true, false, false)
	t, err := f.sglangTelemetry(d.load.model, simengine.Both, hostOne, 1, pp, 1, 1)
	if err != nil {
		return err
	}
	e := f.engine(d, d.name, simengine.Config{Policy: simengine.Retract, PP: pp, Blocks: f.blocks(f.clients(), 0, 0, false), TokenBudget: 48, StatsEvery: 4}, t)
	f.one(d, e, genai.EngineSGLang, genai.ContentEvent)
	return nil
}

// sglangDisaggregated is a prefill and a decode node. Both get the request, each
// through its own API layer, so that it makes two traces.
func (f *fleet) sglangDisaggregated() error {
	d := f.deploy(kindSGLang+"-pd", "Qwen/Qwen3-32B", true, false, false)
	blocks := f.blocks(f.clients(), 0, 0, false)
	var fronts []*door
	var room uint64
	pair := map[uint64]*simengine.Handover{}
	for _, node := range []struct {
		role       simengine.Role
		name, host string
	}{{simengine.PrefillNode, "-prefill", hostOne}, {simengine.DecodeNode, "-decode", hostTwo}} {
		t, err := f.sglangTelemetry(d.load.model, node.role, node.host, 1, 1, 1, 1)
		if err != nil {
			return err
		}
		a := &api{flavor: genai.EngineSGLang, role: node.role, fault: f.fault}
		a.engine = f.engine(d, d.name+node.name, simengine.Config{Policy: simengine.Retract, Role: node.role, Blocks: blocks, TokenBudget: 256, StatsEvery: 4}, t)
		fronts = append(fronts, f.door(genai.EngineSGLang, genai.ContentNone, func(r httpRequest, c httpClient) {
			a.serve(r, c, pair[roomOf(r)])
		}))
	}
	d.send = func(r httpRequest, done func()) {
		room++
		number := roomNumber(f.flags.seed, room)
		r, err := withRoom(r, number)
		if err != nil {
			f.fault(err)
		}
		pair[number] = &simengine.Handover{Room: number}
		open := len(fronts)
		for _, front := range fronts {
			front.serve(r, &client{done: func() {
				if open--; open == 0 {
					delete(pair, number)
					done()
				}
			}})
		}
	}
	return nil
}

// sglangPooling embeds and ranks.
func (f *fleet) sglangPooling() error {
	d := f.deploy(kindSGLang+"-pooling", "BAAI/bge-m3", true, false, true)
	t, err := f.sglangTelemetry(d.load.model, simengine.Both, hostTwo, 1, 1, 1, 1)
	if err != nil {
		return err
	}
	e := f.engine(d, d.name, simengine.Config{Policy: simengine.Retract, Blocks: f.blocks(f.clients(), 0, 0, false), TokenBudget: 512, StatsEvery: 2}, t)
	f.one(d, e, genai.EngineSGLang, genai.ContentNone)
	return nil
}

// start lets the clients of an engine begin one after the other, and each
// send its next request when it has the answer to the one before.
func (f *fleet) start(d *deployment, finished func()) {
	next := 0
	var send func()
	send = func() {
		if next == f.flags.requests {
			return
		}
		r, err := d.load.request(next)
		if err != nil {
			f.fault(err)
			return
		}
		next++
		d.send(r, func() {
			finished()
			f.sim.After(500*time.Microsecond, send)
		})
	}
	for i := range f.clients() {
		f.sim.After(time.Duration(i)*1500*time.Microsecond, send)
	}
}
