package main

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// load reads every YAML file of dir. Errors name the file, line and group, and all of them are returned at once, so that
// a registry is mended in one go.
func load(dir fs.FS) ([]group, error) {
	names, err := fs.Glob(dir, "*.yaml")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("registry: no *.yaml file")
	}
	var groups []group
	var errs []error
	for _, name := range names {
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		found, err := decode(name, data)
		groups = append(groups, found...)
		errs = append(errs, err)
	}
	return groups, errors.Join(errs...)
}

// decode is strict: a field that the schema does not know is an error. The YAML package can be strict too, but not once it
// has handed out nodes, and only nodes know which group a field stands in.
func decode(name string, data []byte) ([]group, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("%s: empty, expected a list of groups", name)
	}
	var errs []error
	report := func(line int, id, text string) {
		where := fmt.Sprintf("%s:%d", name, line)
		if id != "" {
			where += ": group " + id
		}
		errs = append(errs, fmt.Errorf("%s: %s", where, text))
	}
	checkFields(doc.Content[0], reflect.TypeFor[file](), "", report)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	var groups []group
	for _, n := range child(doc.Content[0], "groups").Content {
		g := group{file: name, line: n.Line}
		if err := n.Decode(&g); err != nil {
			report(n.Line, child(n, "id").Value, err.Error())
			continue
		}
		groups = append(groups, g)
	}
	return groups, errors.Join(errs...)
}

func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return &yaml.Node{}
}

// checkFields walks n along the fields of t and reports what does not fit.
func checkFields(n *yaml.Node, t reflect.Type, id string, report func(line int, id, text string)) {
	switch t {
	case reflect.TypeFor[attributeType]():
		if n.Kind == yaml.ScalarNode {
			return
		}
		t = reflect.TypeFor[enumType]()
	case reflect.TypeFor[requirement]():
		if n.Kind == yaml.ScalarNode {
			return
		}
		t = reflect.TypeFor[requirementLevels]()
	case reflect.TypeFor[values]():
		return
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		if n.Kind != yaml.MappingNode {
			report(n.Line, id, "expected a map of "+strings.Join(fieldNames(t), ", "))
			return
		}
		if t == reflect.TypeFor[group]() {
			id = child(n, "id").Value
		}
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if seen[key.Value] {
				report(key.Line, id, fmt.Sprintf("field %q stands twice", key.Value))
			}
			seen[key.Value] = true
			f, ok := fieldOf(t, key.Value)
			if !ok {
				report(key.Line, id, fmt.Sprintf("unknown field %q, expected one of %s", key.Value, strings.Join(fieldNames(t), ", ")))
				continue
			}
			checkFields(value, f.Type, id, report)
		}
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			report(n.Line, id, "expected a list")
			return
		}
		for _, c := range n.Content {
			checkFields(c, t.Elem(), id, report)
		}
	}
}

func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if f.Tag.Get("yaml") == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func fieldNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		if tag := f.Tag.Get("yaml"); tag != "" {
			names = append(names, tag)
		}
	}
	slices.Sort(names)
	return names
}
