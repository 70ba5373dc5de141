{{/* The name of the objects of a release. At most 40 characters leave room for endings. */}}
{{- define "quayside.name" -}}
{{- $name := ternary .Release.Name (printf "%s-quayside" .Release.Name) (contains "quayside" .Release.Name) -}}
{{- $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Objects without a namespace need a name that another namespace does not use. */}}
{{- define "quayside.clusterName" -}}
{{- printf "%s:%s" .Release.Namespace (include "quayside.name" .) -}}
{{- end -}}

{{- define "quayside.selector" -}}
app.kubernetes.io/name: quayside
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "quayside.labels" -}}
{{ include "quayside.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "quayside.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "quayside.name" .) -}}
{{- end -}}

{{- define "quayside.installationSecret" -}}
{{- .Values.installation.existingSecret | default (printf "%s-installation" (include "quayside.name" .)) -}}
{{- end -}}

{{- define "quayside.databaseSecret" -}}
{{- .Values.database.existingSecret | default (printf "%s-database" (include "quayside.name" .)) -}}
{{- end -}}

{{- define "quayside.claim" -}}
{{- .Values.persistence.existingClaim | default (printf "%s-data" (include "quayside.name" .)) -}}
{{- end -}}

{{- define "quayside.accessMode" -}}
{{- $usual := ternary "ReadWriteMany" "ReadWriteOnce" (gt (int .Values.replicas) 1) -}}
{{- .Values.persistence.accessMode | default $usual -}}
{{- end -}}

{{- define "quayside.host" -}}
{{- (urlParse .Values.publicUrl).host | splitList ":" | first -}}
{{- end -}}
