import type { Operation } from '@quayside/contract'

const nouns: Readonly<Partial<Record<Operation['target'], string>>> = {
  deploymentRequest: 'deployment',
  stage: 'deployment stage',
}
const kindNouns: Readonly<Record<string, string>> = { helm: 'Helm chart', terraform: 'Terraform stack' }

/** Returns the name of the operation's target for messages: `environment`, `Helm chart`. */
export function targetNoun({ target, kind }: Pick<Operation, 'target' | 'kind'>): string {
  if (target === 'service' && kind !== undefined) return kindNouns[kind] ?? kind
  return nouns[target] ?? target
}
