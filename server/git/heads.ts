import { isBranchName } from './names.ts'

export interface Head {
  readonly branch: string
  readonly commit: string
}

const prefix = 'refs/heads/'

/**
 * Picks the head from the output of `git ls-remote --symref`: exactly that branch or, without one,
 * main, master or the target of HEAD. Undefined if none of them exists.
 */
export function chooseHead(output: string, branch?: string): Head | undefined {
  const commits = new Map<string, string>()
  let standard: string | undefined
  for (const line of output.split('\n')) {
    const [left = '', ref = ''] = line.split('\t')
    if (ref === 'HEAD' && left.startsWith(`ref: ${prefix}`)) standard = left.slice(`ref: ${prefix}`.length)
    else if (/^[0-9a-f]{40,64}$/.test(left)) commits.set(ref, left)
  }
  const wanted = branch === undefined ? ['main', 'master'] : [branch]
  for (const name of wanted) {
    const commit = commits.get(prefix + name)
    if (commit !== undefined) return { branch: name, commit }
  }
  const commit = commits.get('HEAD') ?? commits.get(prefix + standard)
  if (branch !== undefined || standard === undefined || commit === undefined || !isBranchName(standard))
    return undefined
  return { branch: standard, commit }
}
