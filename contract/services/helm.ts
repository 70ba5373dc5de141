import { GitRepositoryRequest } from '../resources/git-token.ts'
import { base, Change, Defaulted, Enum, Integer, List, Nullable, Ref, Text, Type, Uuid } from '../schema.ts'
import { Arguments, argumentList, description, iconUri, name } from './fields.ts'
import { GitRepository } from './git-repository.ts'

export const helmPortProtocols = ['HTTP', 'GRPC'] as const
const selector = Type.Object({ key: Text(317, 1), value: Text(63) })

/** A port of a service of the chart. Exactly one of name and selectors identifies the service. */
const portRequest = Type.Object({
  id: Type.Optional(Nullable(Uuid)),
  name: Type.Optional(Nullable(Text(63, 1))),
  internal_port: Integer(1, 65535),
  external_port: Type.Optional(Nullable(Integer(1, 65535))),
  namespace: Type.Optional(Nullable(Text(63))),
  protocol: Defaulted(Enum(helmPortProtocols), 'HTTP'),
  is_default: Type.Optional(Nullable(Type.Boolean())),
  service_selectors: Type.Optional(Nullable(List(selector, 20))),
  service_name: Type.Optional(Nullable(Text(253, 1))),
})
export const HelmPort = Type.Object({
  id: Uuid,
  port_type: Enum(['SERVICE_NAME', 'SERVICE_SELECTORS']),
  name: Type.String(),
  internal_port: Type.Integer(),
  external_port: Type.Integer(),
  namespace: Type.Optional(Type.String()),
  protocol: Enum(helmPortProtocols),
  is_default: Type.Boolean(),
  service_selectors: Type.Optional(Type.Array(Type.Object({ key: Type.String(), value: Type.String() }))),
  service_name: Type.Optional(Type.String()),
})

/** The source of the chart: exactly one of the two. */
const source = Type.Object({
  git_repository: Type.Optional(Nullable(GitRepositoryRequest)),
  helm_repository: Type.Optional(
    Nullable(Type.Object({ repository: Uuid, chart_name: Text(255, 1), chart_version: Text(255, 1) })),
  ),
})
/** `key` and `value`, in this order. */
const pairs = Defaulted(Type.Array(Type.Array(Text(65_536), { minItems: 2, maxItems: 2 }), { maxItems: 500 }), [])
const valuesOverride = Defaulted(
  Type.Object({
    set: pairs,
    set_string: pairs,
    set_json: pairs,
    file: Type.Optional(
      Nullable(
        Type.Object({
          git: Type.Optional(
            Nullable(
              Type.Object({
                git_repository: GitRepositoryRequest,
                paths: Type.Array(Text(4096, 1), { minItems: 1, maxItems: 50 }),
              }),
            ),
          ),
          raw: Type.Optional(
            Nullable(Type.Object({ values: List(Type.Object({ name: Text(255, 1), content: Text(131_072) }), 50) })),
          ),
        }),
      ),
    ),
  }),
  {},
)

/** The settings of a Helm chart. */
const properties = {
  name,
  description,
  ports: Defaulted(Type.Array(portRequest, { maxItems: 100 }), []),
  timeout_sec: Defaulted(Type.Integer({ minimum: 0, maximum: 86_400 }), 600),
  auto_preview: Type.Optional(Nullable(Type.Boolean())),
  auto_deploy: Defaulted(Type.Boolean(), false),
  source,
  arguments: argumentList,
  allow_cluster_wide_resources: Defaulted(Type.Boolean(), false),
  values_override: valuesOverride,
  icon_uri: iconUri,
  blueprint_id: Type.Optional(Nullable(Uuid)),
}
export const HelmCreate = Type.Object(properties)
/** Absent fields are unchanged. */
export const HelmEdit = Change(properties)

const Pairs = Type.Array(Type.Array(Type.String()))
export const Helm = Type.Object({
  ...base,
  environment: Ref,
  name: Type.String(),
  description: Type.String(),
  icon_uri: Type.String(),
  service_type: Type.Literal('HELM'),
  ports: Type.Array(HelmPort),
  timeout_sec: Type.Integer(),
  auto_preview: Type.Boolean(),
  auto_deploy: Type.Boolean(),
  source: Type.Object({
    git: Type.Optional(Type.Object({ git_repository: GitRepository })),
    repository: Type.Optional(
      Type.Object({
        chart_name: Type.String(),
        chart_version: Type.String(),
        repository: Type.Object({ id: Uuid, name: Type.String(), url: Type.String() }),
      }),
    ),
  }),
  arguments: Arguments,
  allow_cluster_wide_resources: Type.Boolean(),
  values_override: Type.Object({
    set: Pairs,
    set_string: Pairs,
    set_json: Pairs,
    file: Nullable(
      Type.Object({
        raw: Nullable(
          Type.Object({ values: Type.Array(Type.Object({ name: Type.String(), content: Type.String() })) }),
        ),
        git: Nullable(Type.Object({ git_repository: GitRepository, paths: Type.Array(Type.String()) })),
      }),
    ),
  }),
  blueprint_id: Nullable(Uuid),
})

/** A Kubernetes service of a running chart. */
export const KubernetesService = Type.Object({
  metadata: Type.Object({ name: Type.String() }),
  service_spec: Type.Object({
    type: Type.String(),
    ports: Type.Array(Type.Object({ name: Type.String(), port: Type.Integer() })),
    selectors: Type.Array(Type.Object({ key: Type.String(), value: Type.String() })),
  }),
})
