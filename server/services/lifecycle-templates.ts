import { derivedId } from '../lib/id.ts'

export interface LifecycleTemplate {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly sourceUrl: string
  readonly cloud_provider: 'AWS' | 'ON_PREMISE'
  /** `start`, `stop` or `delete`. */
  readonly events: { readonly name: string; readonly entrypoint?: string; readonly command: string[] }[]
  readonly max_duration_in_sec: number
  readonly resources: { readonly cpu_milli: number; readonly ram_mib: number }
  readonly variables: {
    readonly name: string
    readonly description: string
    readonly default: string
    readonly is_secret: boolean
    readonly file?: { readonly path: string; readonly enable_interpolation: boolean }
  }[]
  readonly dockerfile: string
}

const variable = (name: string, description: string, value = '') => ({
  name,
  description,
  default: value,
  is_secret: false,
})
const secret = (name: string, description: string) => ({ ...variable(name, description), is_secret: true })
const script = (name: string) => ({ name, entrypoint: '/bin/sh', command: ['/job/run.sh', name] })
const usual = { max_duration_in_sec: 1800, resources: { cpu_milli: 500, ram_mib: 512 } }

const tofu = `FROM ghcr.io/opentofu/opentofu:1.10-minimal AS tofu
FROM alpine:3.22
RUN apk add --no-cache git jq
COPY --from=tofu /usr/local/bin/tofu /usr/local/bin/tofu
WORKDIR /job
COPY . .
COPY <<"SCRIPT" /job/run.sh
set -eu
tofu init -input=false
case "$1" in
  start)
    tofu apply -input=false -auto-approve
    mkdir -p /qovery-output
    tofu output -json | jq 'map_values({value: (.value | tostring), sensitive: .sensitive})' > /qovery-output/qovery-output.json
    ;;
  delete) tofu destroy -input=false -auto-approve ;;
esac
SCRIPT
`
const cloudFormation = `FROM amazon/aws-cli:2.31.0
RUN yum install -y jq && yum clean all
WORKDIR /job
COPY . .
COPY <<"SCRIPT" /job/run.sh
set -eu
case "$1" in
  start)
    aws cloudformation deploy --stack-name "$STACK_NAME" --template-file "$TEMPLATE_FILE" --capabilities CAPABILITY_IAM --no-fail-on-empty-changeset
    mkdir -p /qovery-output
    aws cloudformation describe-stacks --stack-name "$STACK_NAME" \\
      | jq '[.Stacks[0].Outputs // [] | .[] | {(.OutputKey): {value: .OutputValue}}] | add // {}' > /qovery-output/qovery-output.json
    ;;
  delete)
    aws cloudformation delete-stack --stack-name "$STACK_NAME"
    aws cloudformation wait stack-delete-complete --stack-name "$STACK_NAME"
    ;;
esac
SCRIPT
`
const seed = `FROM postgres:17-alpine
WORKDIR /job
COPY . .
COPY <<"SCRIPT" /job/run.sh
set -eu
for file in $(ls "$SEED_DIRECTORY"/*.sql | sort); do
  echo "Running $file"
  psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --single-transaction --file "$file"
done
SCRIPT
`

const templates: readonly Omit<LifecycleTemplate, 'id'>[] = [
  {
    ...usual,
    name: 'OpenTofu stack',
    description:
      'Applies the .tf files of the repository, hands their outputs on, and destroys them with the environment.',
    sourceUrl: 'https://opentofu.org',
    cloud_provider: 'ON_PREMISE',
    events: [script('start'), script('delete')],
    variables: [
      variable('TF_CLI_ARGS_init', 'Extra arguments of init: where the state is kept, say.'),
      secret('TF_HTTP_PASSWORD', 'Password of the HTTP backend, when the state is kept there.'),
    ],
    dockerfile: tofu,
  },
  {
    ...usual,
    name: 'CloudFormation stack',
    description: 'Deploys a CloudFormation template, hands its outputs on, and deletes the stack with the environment.',
    sourceUrl: 'https://docs.aws.amazon.com/cloudformation/',
    cloud_provider: 'AWS',
    events: [script('start'), script('delete')],
    variables: [
      variable('STACK_NAME', 'Name of the stack.'),
      variable('TEMPLATE_FILE', 'Path of the template in the repository.', 'template.yaml'),
      variable('AWS_DEFAULT_REGION', 'Region of the stack.', 'eu-west-3'),
      variable('AWS_ACCESS_KEY_ID', 'Key that the stack is made with.'),
      secret('AWS_SECRET_ACCESS_KEY', 'Secret of the key.'),
    ],
    dockerfile: cloudFormation,
  },
  {
    ...usual,
    name: 'Database seed',
    description: 'Runs the .sql files of a directory, in the order of their names, when the environment starts.',
    sourceUrl: 'https://www.postgresql.org/docs/current/app-psql.html',
    cloud_provider: 'ON_PREMISE',
    events: [script('start')],
    variables: [
      secret('DATABASE_URL', 'Address of the database with user name and password.'),
      variable('SEED_DIRECTORY', 'Directory of the .sql files.', 'seed'),
    ],
    dockerfile: seed,
  },
]

/**
 * Lists templates of lifecycle jobs. Each organization has its own ids for them, which never
 * change.
 */
export const lifecycleTemplatesOf = (organizationId: string): LifecycleTemplate[] =>
  templates.map((template) => ({ id: derivedId('lifecycle template', organizationId, template.name), ...template }))
