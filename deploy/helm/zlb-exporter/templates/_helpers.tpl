{{- define "zlb.labels" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default "zlb-exporter" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "zlb.namespace" -}}
{{ .Values.namespaceOverride | default .Release.Namespace }}
{{- end }}

{{- define "zlb.metadata" -}}
{{- include "zlb.metadataWith" (dict "context" . "labels" dict) }}
{{- end }}

{{- /* The same with labels, and perhaps a namespace, of this object alone. */ -}}
{{- define "zlb.metadataWith" -}}
namespace: {{ .namespace | default (include "zlb.namespace" .context) }}
labels:
  {{- include "zlb.labels" .context | nindent 2 }}
  app.kubernetes.io/version: {{ .context.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .context.Release.Service }}
  helm.sh/chart: {{ .context.Chart.Name }}-{{ .context.Chart.Version }}
  {{- with merge (deepCopy .labels) .context.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "zlb.name" -}}
{{- $chart := .Values.nameOverride | default "zlb-exporter" }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if contains $chart .Release.Name }}{{ .Release.Name }}
{{- else }}{{ .Release.Name }}-{{ $chart }}{{ end }}
{{- end }}

{{- define "zlb.account" -}}
{{ .Values.serviceAccount.name | default (ternary (include "zlb.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- /* "true" where the pod has a volume that outlives it. */ -}}
{{- define "zlb.hasStorage" -}}
{{ or .Values.storage.enabled .Values.gateway.enabled }}
{{- end }}

{{- /* "true" for a block of the Prometheus Operator that is on, or that is `auto` where a cluster has the kind. */ -}}
{{- define "zlb.isOn" -}}
{{- $has := .context.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" .kind) }}
{{- ternary $has (eq (toString .enabled) "true") (eq (toString .enabled) "auto") }}
{{- end }}

{{- /* The ports of the appliances' URLs and those of the policy, each once, as JSON. */ -}}
{{- define "zlb.appliancePorts" -}}
{{- $ports := list }}
{{- range .Values.networkPolicy.appliancePorts }}{{ $ports = append $ports (int .) }}{{ end }}
{{- range .Values.appliances }}
{{- $authority := (urlParse (ternary .url (printf "https://%s" .url) (contains "://" .url))).host }}
{{- $ports = append $ports (int (regexFind "[0-9]+$" (regexFind ":[0-9]+$" $authority) | default "444")) }}
{{- end }}
{{- $ports | uniq | sortAlpha | toJson }}
{{- end }}

{{- /* Where the log of requests is received, as a JSON list of { name, port, protocol }. */ -}}
{{- define "zlb.requestPorts" -}}
{{- $ports := list }}
{{- range $protocol := list "tcp" "udp" }}
{{- with get ($.Values.config.requests | default dict) (printf "listen_%s" $protocol) }}
{{- $ports = append $ports (dict "name" (printf "requests-%s" $protocol) "port" (int (regexFind "[0-9]+$" .)) "protocol" (upper $protocol)) }}
{{- end }}
{{- end }}
{{- toJson $ports }}
{{- end }}

{{- /* The networks from which the appliances send their log, each once, as JSON. */ -}}
{{- define "zlb.requestSenders" -}}
{{- $networks := list }}
{{- range .Values.appliances }}
{{- range (.requests | default dict).from }}
{{- $networks = append $networks (ternary . (printf "%s/%s" . (ternary "128" "32" (contains ":" .))) (contains "/" .)) }}
{{- end }}
{{- end }}
{{- $networks | uniq | toJson }}
{{- end }}

{{- define "zlb.image" -}}
{{- with .Values.global.imageRegistry | default .Values.image.registry }}{{ . }}/{{ end }}
{{- .Values.image.repository }}
{{- with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* zlb.yml without the appliances, which are in a file of their own. */ -}}
{{- define "zlb.config" -}}
{{- $config := deepCopy .Values.config }}
{{- $_ := set $config "appliance_files" (list "appliances.yml") }}
{{- if .Values.gateway.enabled }}
{{- $audit := dict "journal_file" "/var/lib/zlb-exporter/journal.db" }}
{{- $_ := set $config "admin" (merge $audit .Values.gateway.config) }}
{{- end }}
{{- if eq "true" (include "zlb.hasStorage" .) }}
{{- $kept := dict "file" "/var/lib/zlb-exporter/history.db" }}
{{- $_ := set $config "history" (merge (default dict $config.history) $kept) }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{- define "zlb.args" -}}
- --web.listen-address=:{{ .Values.service.port }}
{{- if not .Values.demonstration }}
- --config.file=/etc/zlb-exporter/zlb.yml
{{- end }}
{{- if .Values.webSecret }}
- --web.config.file=/etc/zlb-exporter-web/web.yml
{{- end }}
{{- if gt (int .Values.shards) 1 }}
- --shard=$(POD_INDEX)/{{ .Values.shards }}
{{- end }}
{{- end }}

{{- /* A probe of a path; with TLS or passwords the exporter asks itself. */ -}}
{{- define "zlb.probe" -}}
{{- with .context.Values }}
{{- if .webSecret -}}
exec:
  command:
    - zlb-exporter
    - healthcheck
    - --web.listen-address=:{{ .service.port }}
    - --web.config.file=/etc/zlb-exporter-web/web.yml
{{- else -}}
httpGet: { path: {{ $.path }}, port: metrics }
{{- end }}
{{- end }}
{{- end }}

{{- /* The address that people use: the one given, that of the Ingress, or the Service. */ -}}
{{- define "zlb.exporterUrl" -}}
{{- $ingress := .Values.ingress }}
{{- if .Values.prometheusRule.exporterUrl }}{{ .Values.prometheusRule.exporterUrl }}
{{- else if $ingress.enabled }}{{ ternary "https" "http" (not (empty $ingress.tlsSecret)) }}://{{ $ingress.host }}
{{- else }}{{ include "zlb.url" . }}{{ end }}
{{- end }}

{{- define "zlb.scheme" -}}
{{ .Values.serviceMonitor.scheme | default (ternary "https" "http" (not (empty .Values.webSecret))) }}
{{- end }}

{{- define "zlb.url" -}}
{{ include "zlb.scheme" . }}://{{ include "zlb.name" . }}.{{ include "zlb.namespace" . }}:{{ .Values.service.port }}
{{- end }}

{{- /* What a server needs to be let in, in the words of ServiceMonitor and ScrapeConfig alike. */ -}}
{{- define "zlb.scrapeAccess" -}}
{{- $access := pick .Values.serviceMonitor "basicAuth" "authorization" }}
{{- if eq "https" (include "zlb.scheme" .) }}
{{- $name := dict "serverName" (printf "%s.%s.svc" (include "zlb.name" .) (include "zlb.namespace" .)) }}
{{- /* Prometheus asks the address of a pod, which no certificate has. */}}
{{- $_ := set $access "tlsConfig" (merge (deepCopy .Values.serviceMonitor.tlsConfig) $name) }}
{{- end }}
{{- range $key, $value := $access }}
{{- with $value }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "zlb.claim" -}}
accessModes: [ReadWriteOnce]
{{- with .Values.storage.storageClassName }}
storageClassName: {{ . }}
{{- end }}
resources: { requests: { storage: {{ .Values.storage.size }} } }
{{- end }}
