{{- /*
The pod of a role. In: root, the chart's context; role, what `spanproof serve --role` takes; values, of this role;
component, the label that tells the pods of roles apart, empty where one does everything.
Only roles that replay code get the sandbox's tier, its runtime class and its nodes.
*/ -}}
{{- define "spanproof.pod" -}}
{{- $values := .root.Values -}}
{{- $replays := has .role (list "all" "worker") -}}
{{- $full := and $replays (eq $values.sandbox.tier "full") -}}
metadata:
  labels:
    {{- include "spanproof.labels" .root | nindent 4 }}
    {{- with .component }}
    app.kubernetes.io/component: {{ . }}
    {{- end }}
    {{- with $values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    checksum/config: {{ include "spanproof.config" .root | sha256sum }}
    {{- with $values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  # What was received is evaluated and stored within 60 s; what is not done by then stays in the log.
  terminationGracePeriodSeconds: 90
  {{- if $replays }}
  {{- with $values.sandbox.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  {{- with $values.sandbox.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.sandbox.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- with $values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: {{ ternary "Unconfined" "RuntimeDefault" $full }}}
  containers:
    - name: spanproof
      image: "{{ $values.image.repository }}:{{ $values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [serve, {{ if ne .role "all" }}--role, {{ .role }}, {{ end }}--log-format, json]
      env:
        - {name: SPANPROOF_CONFIG, value: /etc/spanproof/spanproof.yaml}
        {{- with $values.tokensSecret }}
        - name: SPANPROOF_TOKENS
          valueFrom: {secretKeyRef: {name: {{ . }}, key: tokens}}
        {{- end }}
        {{- with $values.extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
      ports:
        {{- if has .role (list "all" "receiver") }}
        - {name: otlp-grpc, containerPort: 4317}
        {{- end }}
        {{- if ne .role "console" }}
        - {name: otlp-http, containerPort: 4318}
        {{- end }}
        {{- if eq (include "spanproof.shows" .) "true" }}
        - {name: console, containerPort: 4319}
        {{- end }}
      {{- $path := ternary (list "/readyz" "/livez") (list "/metrics" "/metrics") (has .role (list "all" "receiver")) }}
      {{- $port := "otlp-http" }}
      {{- if eq .role "console" }}{{ $path = list "/" "/" }}{{ $port = "console" }}{{ end }}
      startupProbe:
        httpGet: {path: {{ first $path }}, port: {{ $port }}}
        periodSeconds: 2
        failureThreshold: 60
      readinessProbe:
        httpGet: {path: {{ first $path }}, port: {{ $port }}}
        periodSeconds: 5
      livenessProbe:
        httpGet: {path: {{ last $path }}, port: {{ $port }}}
        periodSeconds: 15
        failureThreshold: 4
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
        {{- if $full }}
        # The sandbox mounts a /proc of its own in namespaces of its own, which a masked /proc forbids.
        procMount: Unmasked
        {{- end }}
      resources: {{- toYaml .values.resources | nindent 8 }}
      volumeMounts:
        - {name: data, mountPath: /var/lib/spanproof}
        - {name: config, mountPath: /etc/spanproof, readOnly: true}
        - {name: tmp, mountPath: /tmp}
  {{- if $full }}
  # Kubernetes gives an unmasked /proc only to a pod with users of its own.
  hostUsers: false
  {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ include "spanproof.name" .root }}}
    - name: tmp
      emptyDir: {medium: Memory, sizeLimit: 1Gi}
    {{- if not (and $replays $values.persistence.enabled) }}
    - name: data
      emptyDir: {}
    {{- end }}
{{- end }}

{{- /* "true" where the console listens beyond its pod. */ -}}
{{- define "spanproof.shows" -}}
{{- and .root.Values.console.expose (has .role (list "all" "console")) -}}
{{- end }}

{{- define "spanproof.claims" -}}
{{- if .Values.persistence.enabled }}
volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .Values.persistence.storageClass }}
      storageClassName: {{ . }}
      {{- end }}
      resources: {requests: {storage: {{ .Values.persistence.size }}}}
{{- end }}
{{- end }}
