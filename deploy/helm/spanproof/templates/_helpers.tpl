{{- define "spanproof.name" -}}
{{- if contains "spanproof" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-spanproof" .Release.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "spanproof.selector" -}}
app.kubernetes.io/name: spanproof
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "spanproof.labels" -}}
{{ include "spanproof.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- /* What the chart knows better than the user's file: where it listens, and where its volume is. */ -}}
{{- define "spanproof.config" -}}
{{- $own := dict
  "receivers" (dict
    "grpc" (dict "host" "0.0.0.0" "port" 4317)
    "http" (dict "host" "0.0.0.0" "port" 4318)
    "fallback_port" false)
  "wal" (dict "directory" "/var/lib/spanproof/wal")
  "sandbox" (dict "settings" (dict "tier" .Values.sandbox.tier))
-}}
{{- if .Values.console.expose }}{{ $_ := set $own "console" (dict "host" "0.0.0.0" "port" 4319) }}{{ end }}
{{- $store := dict "store" (dict "location" "/var/lib/spanproof/store") -}}
{{- mustMergeOverwrite $store (deepCopy .Values.config) $own | toYaml }}
{{- end }}
