/** The resource of each kind of service in Terraform's public provider. */
const resources = {
  application: 'qovery_application',
  container: 'qovery_container',
  database: 'qovery_database',
  job: 'qovery_job',
  helm: 'qovery_helm',
  terraform: 'qovery_terraform_service',
} as const

/**
 * Pure: the block of a service in the export of its environment. Undefined if the export has none.
 * Texts of the export are quoted in one line, so a line with a brace alone ends a block.
 */
export function serviceBlock(exported: string, kind: keyof typeof resources, name: string): string | undefined {
  const named = `  name = ${quoted(name)}`
  return blocksIn(exported).find((block) => {
    const lines = block.split('\n')
    return lines[0]?.startsWith(`resource "${resources[kind]}" `) && lines.includes(named)
  })
}

/** Pure: the blocks of a configuration, each with its last line. */
function blocksIn(text: string): readonly string[] {
  const blocks: string[] = []
  let lines: string[] = []
  for (const line of text.split('\n')) {
    if (line !== '' || lines.length > 0) lines.push(line)
    if (line !== '}') continue
    blocks.push(`${lines.join('\n')}\n`)
    lines = []
  }
  return blocks
}

/** Pure: a text as the export quotes it. */
const quoted = (text: string): string => JSON.stringify(text).replace(/([$%])\{/g, '$1$1{')
