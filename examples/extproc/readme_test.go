package main

import (
	"os"
	"regexp"
	"testing"

	bootstrap "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	filter "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"sigs.k8s.io/yaml"
)

// TestReadme: Envoy knows each field of the configuration that the README shows.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d snippets, want 2", len(blocks))
	}
	manager, resources := &hcm.HttpConnectionManager{}, &bootstrap.Bootstrap_StaticResources{}
	for i, m := range []proto.Message{manager, resources} {
		json, err := yaml.YAMLToJSONStrict(blocks[i][1])
		if err == nil {
			err = protojson.Unmarshal(json, m)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var config filter.ExternalProcessor
	if err := manager.GetHttpFilters()[0].GetTypedConfig().UnmarshalTo(&config); err != nil {
		t.Fatal(err)
	}
	if err := config.ValidateAll(); err != nil {
		t.Error(err)
	}
	if err := resources.ValidateAll(); err != nil {
		t.Error(err)
	}
	if cluster := config.GetGrpcService().GetEnvoyGrpc().GetClusterName(); cluster != resources.GetClusters()[0].GetName() {
		t.Errorf("the filter calls the cluster %q", cluster)
	}
}
