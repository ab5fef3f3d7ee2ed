// Code generated from semconv/registry. DO NOT EDIT.

package semconv

import (
	"go.opentelemetry.io/otel/attribute"
)

// VLLMEngineV0Dimensions returns the dimensions of the metrics of a vLLM V0
// engine.
//
// They are callType, rpcType. Build a set once and keep it.
func VLLMEngineV0Dimensions() attribute.Set {
	return attribute.NewSet(CallTypeGenAI, RPCTypeGenAI)
}

// VLLMEngineV1Dimensions returns the dimensions of the metrics of a vLLM V1
// engine.
//
// They are callType, rpcType, engine_index, model_name. Build a set once and
// keep it.
func VLLMEngineV1Dimensions(engineIndex int, modelName string) attribute.Set {
	return attribute.NewSet(CallTypeGenAI, RPCTypeGenAI, EngineIndex(engineIndex), EngineModelName(modelName))
}

// VLLMTokenDimensions returns the dimensions of the token metric of the API
// layer in front of vLLM.
//
// They are callType, callKind, rpcType, modelName, spanKind, usageType. Build a
// set once and keep it.
func VLLMTokenDimensions(modelName string, spanKind SpanKindAttr, usageType UsageTypeAttr) attribute.Set {
	return attribute.NewSet(CallTypeGenAI, CallKindCustomEntry, RPCTypeGenAI, TokenModelName(modelName), SpanKind(spanKind), UsageType(usageType))
}

// SGLangEngineDimensions returns the dimensions of the metrics of SGLang's
// scheduler and frontend.
//
// They are callType, callKind, rpcType. Build a set once and keep it.
func SGLangEngineDimensions() attribute.Set {
	return attribute.NewSet(CallTypeGenAI, CallKindCustomEntry, RPCTypeGenAI)
}

// SGLangTokenDimensions returns the dimensions of the token metric in front of
// SGLang.
//
// They are callType, callKind, rpcType, modelName, spanKind, usageType. Build a
// set once and keep it.
func SGLangTokenDimensions(modelName string, spanKind SpanKindAttr, usageType UsageTypeAttr) attribute.Set {
	return attribute.NewSet(CallTypeGenAI, CallKindCustomEntry, RPCTypeGenAI, TokenModelName(modelName), SpanKind(spanKind), UsageType(usageType))
}
