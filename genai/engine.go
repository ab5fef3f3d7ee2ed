package genai

import (
	"fmt"
	"strings"
)

// Engine is the inference engine behind the API layer. It decides which
// attributes an entry span carries.
type Engine uint8

// The engines whose entry spans are documented. The zero value is EngineVLLM.
const (
	EngineVLLM Engine = iota
	EngineSGLang
)

// String returns the engine's name as its project writes it.
func (e Engine) String() string {
	switch e {
	case EngineVLLM:
		return "vLLM"
	case EngineSGLang:
		return "SGLang"
	}
	return fmt.Sprintf("Engine(%d)", uint8(e))
}

// ParseEngine returns the engine named "vllm" or "sglang", in any case.
func ParseEngine(name string) (Engine, error) {
	switch strings.ToLower(name) {
	case "vllm":
		return EngineVLLM, nil
	case "sglang":
		return EngineSGLang, nil
	}
	return 0, fmt.Errorf("genai: engine is %q, want vllm or sglang", name)
}
