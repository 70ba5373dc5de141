{{/* The settings of the server. */}}
{{- define "quayside.environment" -}}
{{- $v := .Values -}}
- name: QUAYSIDE_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "quayside.databaseSecret" . }}
      key: {{ ternary $v.database.secretKey "url" (not (empty $v.database.existingSecret)) }}
- name: QUAYSIDE_IN_CLUSTER_ID
  valueFrom:
    secretKeyRef: { name: {{ include "quayside.installationSecret" . }}, key: cluster-id }
{{- $settings := dict
  "QUAYSIDE_DATA" "/data"
  "QUAYSIDE_SHARED_DATA" "on"
  "QUAYSIDE_SCRATCH" "/scratch"
  "QUAYSIDE_DOCKER_HOST" "none"
  "QUAYSIDE_PUBLIC_URL" $v.publicUrl
  "QUAYSIDE_DOMAIN" $v.domain
  "QUAYSIDE_SNAPSHOT" $v.database.snapshot
  "QUAYSIDE_MASTER_KEY_FILE" "/keys/master.key"
  "QUAYSIDE_TOKEN_PEPPER_FILE" "/keys/token.pepper"
  "QUAYSIDE_LEAVE_SECONDS" $v.leaveSeconds
  "QUAYSIDE_CLUSTER_REGISTRY" $v.registry.repository
  "QUAYSIDE_CLUSTER_REGISTRY_USERNAME" $v.registry.username
  "QUAYSIDE_CLUSTER_REGISTRY_PASSWORD_FILE" (ternary "/registry/password" "" (not (empty $v.registry.existingSecret)))
  "QUAYSIDE_CLUSTER_ROUTER_IMAGE" $v.image.router
  "QUAYSIDE_CLUSTER_ROUTER_SERVICE" $v.router.service
  "QUAYSIDE_CLUSTER_ROUTER_REPLICAS" $v.router.replicas
  "QUAYSIDE_CLUSTER_INGRESS_CLASS" $v.ingressClass
  "QUAYSIDE_CLUSTER_TOOLS_IMAGE" $v.toolsImage
-}}
{{- range $name, $value := merge $settings $v.settings }}
{{- if ne (toString $value) "" }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}
{{- end -}}
