#!/usr/bin/env bash
# A JSON Schema restricts the names of keys (`propertyNames`), and a value has a name that is refused.
# Needs: Go 1.24 or newer, on Debian 13.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"

cat > go.mod <<'M'
module demo

go 1.24

require github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
M
cat > main.go <<'G'
package main

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func read(text string) any {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	compiler := jsonschema.NewCompiler()
	compiler.AddResource("values.schema.json", read(`{"properties": {
		"image": {}, "labels": {"propertyNames": {"not": {"const": "app"}}}, "replicas": {}, "service": {}}}`))
	schema := compiler.MustCompile("values.schema.json")
	fmt.Println(schema.Validate(read(`{"image": {}, "labels": {"app": "x"}, "replicas": 1, "service": {}}`)))
}
G
go mod tidy > tidy.out 2>&1
go build -o demo .
for _ in $(seq 60); do ./demo; done | sed -n "s/^- at '\(.*\)': invalid propertyName.*/\1/p" | sort | uniq -c > places
others=$(awk '$2 != "/labels"' places | wc -l)

echo "guess:     the error names the value that has the refused key: /labels"
echo "version:   jsonschema (Go) $(sed -n 's/^require .*jsonschema.* v/v/p' go.mod), with which Helm 3.22.0 checks values"
echo "behaviour: it names any value beside it, another one from run to run"
echo "seen:      of 60 runs: $(awk '{ printf "%s%s times %s", sep, $1, $2; sep = ", " }' places)"
echo "hit:       users of charts whose schema restricts names of labels or annotations: they search the wrong value"
if [ "$others" = 0 ]; then
  echo "changed"
  exit 1
fi
