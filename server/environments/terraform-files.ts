import type { OwnVariable } from '../variables/index.ts'
import { block, type Hcl, labels, reference } from './hcl.ts'
import { type ExportedEnvironment, environmentBlocks, listed, type Naming } from './terraform-environment.ts'

/** A project with everything in its export. */
export interface ExportedProject {
  readonly organization_id: string
  readonly name: string
  readonly description: string
  readonly variables: readonly OwnVariable[]
  readonly environments: readonly ExportedEnvironment[]
}

/** Values of secrets by the ids of their variables. Empty if secrets are not exported. */
export type SecretTexts = ReadonlyMap<string, string>

/** Pure: the files of an environment for the public provider, by name. */
export function environmentFiles(
  environment: ExportedEnvironment,
  projectId: string,
  texts: SecretTexts,
): Record<string, string> {
  const secrets = createSecrets(texts)
  const naming: Naming = { label: labels(), secret: secrets.secret }
  const { blocks } = environmentBlocks(environment, projectId, naming, () => '')
  return { 'main.tf': `${provider}\n${blocks.join('\n')}`, ...secrets.files() }
}

/** Pure: the files of a project, one for each environment. Labels begin with their environment. */
export function projectFiles(project: ExportedProject, texts: SecretTexts): Record<string, string> {
  const secrets = createSecrets(texts)
  const naming: Naming = { label: labels(), secret: secrets.secret }
  const { organization_id, name, description, variables, environments } = project
  const own = naming.label(name)
  const attributes = { organization_id, name, description, ...listed(own, variables, naming) }
  const project_id = reference('qovery_project', own, 'id')
  const files: Record<string, string> = {
    'main.tf': `${provider}\n${block('resource', ['qovery_project', own], attributes)}`,
  }
  for (const environment of environments) {
    const { label, blocks } = environmentBlocks(environment, project_id, naming, (its) => `${its}_`)
    files[`environment_${label}.tf`] = blocks.join('\n')
  }
  return { ...files, ...secrets.files() }
}

/** Collects the variables that stand for secrets. */
function createSecrets(texts: SecretTexts) {
  const found = new Map<string, string | undefined>()
  const label = labels()
  return {
    secret(name: string, variableId?: string): Hcl {
      const variable = label(name)
      found.set(variable, variableId === undefined ? undefined : texts.get(variableId))
      return reference('var', variable)
    },
    files: (): Record<string, string> => ({
      'variables.tf': [...found.keys()].map(declare).join('\n'),
      ...(texts.size > 0 && { 'terraform.tfvars': assign(found) }),
    }),
  }
}

const provider = `terraform {
  required_providers {
    qovery = {
      source = "qovery/qovery"
    }
  }
}
`

const declare = (name: string): string => `variable "${name}" {\n  type      = string\n  sensitive = true\n}\n`

const assign = (secrets: ReadonlyMap<string, string | undefined>): string =>
  [...secrets]
    .flatMap(([name, text]) => (text === undefined ? [] : [block('', [], { [name]: text })]))
    .map((text) => text.replace(/^ \{\n {2}|\}\n$/g, ''))
    .join('')
