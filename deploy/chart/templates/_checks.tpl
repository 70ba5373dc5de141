{{/* Ends with a message if values do not fit each other. The schema checks each value alone. */}}
{{- define "quayside.checks" -}}
{{- $v := .Values -}}
{{- $needed := dict
  "publicUrl" (dict "value" $v.publicUrl "example" "https://quayside.example.org")
  "domain" (dict "value" $v.domain "example" "apps.example.org")
  "image.server" (dict "value" $v.image.server "example" "registry.example.org/quayside/server@sha256:…")
  "registry.repository" (dict "value" $v.registry.repository "example" "registry.example.org/quayside")
-}}
{{- range $name, $need := $needed -}}
{{- if not $need.value -}}
{{- fail (printf "%s is required, such as %s." $name $need.example) -}}
{{- end -}}
{{- end -}}
{{- if and (not $v.database.url) (not $v.database.existingSecret) -}}
{{- fail "database.url is required, such as postgres://user:password@host:5432/name, or database.existingSecret." -}}
{{- end -}}
{{- if and $v.database.url $v.database.existingSecret -}}
{{- fail "Set either database.url or database.existingSecret, not both." -}}
{{- end -}}
{{- if ne (empty $v.registry.username) (empty $v.registry.existingSecret) -}}
{{- fail "registry.username needs registry.existingSecret with its password, and vice versa." -}}
{{- end -}}
{{- if and (gt (int $v.replicas) 1) (ne (include "quayside.accessMode" .) "ReadWriteMany") -}}
{{- $advice := "Set persistence.accessMode to ReadWriteMany, with a class that has it, or set replicas to 1." -}}
{{- fail (printf "%d replicas need a volume that all of them mount. %s" (int $v.replicas) $advice) -}}
{{- end -}}
{{- if and $v.service.nodePort (ne $v.service.type "NodePort") -}}
{{- $found := printf "service.nodePort is %d, but service.type is %s." (int $v.service.nodePort) $v.service.type -}}
{{- fail (printf "%s Set service.type to NodePort." $found) -}}
{{- end -}}
{{- range $name, $value := $v.settings -}}
{{- if has $name (regexSplit "\\s+" (include "quayside.settingsOfChart" $) -1) -}}
{{- fail (printf "settings.%s is not possible: the chart sets it. Use the value of the chart instead." $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The settings that the values above replace. */}}
{{- define "quayside.settingsOfChart" -}}
QUAYSIDE_DATA QUAYSIDE_HOST QUAYSIDE_PORT QUAYSIDE_SHARED_DATA QUAYSIDE_SCRATCH QUAYSIDE_DOCKER_HOST
QUAYSIDE_PUBLIC_URL QUAYSIDE_DOMAIN QUAYSIDE_DATABASE_URL QUAYSIDE_SNAPSHOT QUAYSIDE_MASTER_KEY_FILE
QUAYSIDE_TOKEN_PEPPER_FILE QUAYSIDE_IN_CLUSTER_ID QUAYSIDE_CLUSTER_REGISTRY
QUAYSIDE_CLUSTER_REGISTRY_USERNAME QUAYSIDE_CLUSTER_REGISTRY_PASSWORD_FILE
QUAYSIDE_CLUSTER_ROUTER_IMAGE QUAYSIDE_CLUSTER_ROUTER_SERVICE QUAYSIDE_CLUSTER_ROUTER_REPLICAS
QUAYSIDE_CLUSTER_INGRESS_CLASS QUAYSIDE_CLUSTER_TOOLS_IMAGE QUAYSIDE_LEAVE_SECONDS
{{- end -}}
