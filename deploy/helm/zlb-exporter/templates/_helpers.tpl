{{- define "zlb.labels" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default "zlb-exporter" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "zlb.metadata" -}}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "zlb.labels" . | nindent 2 }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
  helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "zlb.name" -}}
{{- $chart := .Values.nameOverride | default "zlb-exporter" }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if contains $chart .Release.Name }}{{ .Release.Name }}
{{- else }}{{ .Release.Name }}-{{ $chart }}{{ end }}
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

{{- define "zlb.image" -}}
{{ .Values.image.repository }}
{{- with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* zlb.yml without the appliances, which are in a file of their own. */ -}}
{{- define "zlb.config" -}}
{{- $config := deepCopy .Values.config }}
{{- $_ := set $config "appliance_files" (list "appliances.yml") }}
{{- if .Values.gateway.enabled }}
{{- $audit := dict "journal_file" "/var/lib/zlb-exporter/journal.db" }}
{{- $_ := set $config "admin" (merge $audit .Values.gateway.config) }}
{{- $kept := dict "file" "/var/lib/zlb-exporter/history.db" }}
{{- $_ := set $config "history" (merge (default dict $config.history) $kept) }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{- define "zlb.args" -}}
{{- if .Values.demonstration }}
- --web.listen-address=:9444
{{- else }}
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
{{- if .webSecret -}}
exec: { command: [zlb-exporter, healthcheck, --web.config.file=/etc/zlb-exporter-web/web.yml] }
{{- else -}}
httpGet: { path: {{ .path }}, port: metrics }
{{- end }}
{{- end }}

{{- /* The address that people use: the one given, that of the Ingress, or the Service. */ -}}
{{- define "zlb.exporterUrl" -}}
{{- $ingress := .Values.ingress }}
{{- if .Values.prometheusRule.exporterUrl }}{{ .Values.prometheusRule.exporterUrl }}
{{- else if $ingress.enabled }}{{ ternary "https" "http" (not (empty $ingress.tlsSecret)) }}://{{ $ingress.host }}
{{- else }}{{ include "zlb.url" . }}{{ end }}
{{- end }}

{{- define "zlb.url" -}}
{{ if .Values.webSecret }}https{{ else }}http{{ end }}://{{ include "zlb.name" . }}.{{ .Release.Namespace }}:9444
{{- end }}

{{- define "zlb.claim" -}}
accessModes: [ReadWriteOnce]
{{- with .Values.gateway.storageClassName }}
storageClassName: {{ . }}
{{- end }}
resources: { requests: { storage: {{ .Values.gateway.storage }} } }
{{- end }}
