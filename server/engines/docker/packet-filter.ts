import { run } from '../../lib/run.ts'

/**
 * A chain of ours in the packet filter. Several installations share it, so their rules and jumps
 * are kept. Rules that belong to one installation carry its comment.
 */
export interface Guard {
  readonly program: 'iptables' | 'ip6tables'
  readonly chain: string
  /** The jumps into the chain: another chain and a match, such as `INPUT -i docker0`. */
  readonly ways: readonly string[]
  /** Rules that accept packets. They are inserted before the rejecting rules. */
  readonly passes?: readonly string[]
  readonly refusals: readonly string[]
  /** Rules of this chain that contain this text and are not listed above are deleted. */
  readonly replaces?: string
}

/** Pure: returns the calls that set up the guard, given the `rules` that `-S` prints. */
export function closingCommands(rules: readonly string[], guard: Guard): string[][] {
  const { chain, ways, passes = [], refusals } = guard
  const isThere = new Set(rules)
  const commands = [
    ...(isThere.has(`-N ${chain}`) ? [] : [`-N ${chain}`]),
    ...refusals.map((rule) => `-A ${chain} ${rule}`).filter((rule) => !isThere.has(rule)),
    ...passes.filter((rule) => !isThere.has(`-A ${chain} ${rule}`)).map((rule) => `-I ${chain} ${rule}`),
    ...replaced(rules, guard, [...passes, ...refusals]),
    ...ways.filter((way) => !isThere.has(`-A ${way} -j ${chain}`)).map((way) => `-I ${way} -j ${chain}`),
  ]
  return commands.map((command) => command.split(' '))
}

/** Pure: returns the calls that remove the jumps into the chain and the installation's rules. */
export function openingCommands(rules: readonly string[], guard: Guard): string[][] {
  const ways = new Set(guard.ways.map((way) => `-A ${way} -j ${guard.chain}`))
  // A jump may exist twice if two installations created it at the same time.
  const led = rules.filter((rule) => ways.has(rule)).map((rule) => rule.replace('-A', '-D'))
  return [...led, ...replaced(rules, guard, [])].map((command) => command.split(' '))
}

/**
 * Pure: returns the calls that remove the rest of an installation: its own rules, or the whole
 * chain if no other installation needs it.
 */
export function removalCommands(rules: readonly string[], guard: Guard, isShared: boolean): string[][] {
  const { chain } = guard
  if (!rules.includes(`-N ${chain}`)) return []
  if (isShared) return replaced(rules, guard, []).map((command) => command.split(' '))
  const ways = rules.filter((rule) => rule.endsWith(` -j ${chain}`)).map((rule) => rule.replace('-A', '-D'))
  return [...ways, `-F ${chain}`, `-X ${chain}`].map((command) => command.split(' '))
}

function replaced(rules: readonly string[], { chain, replaces }: Guard, wanted: readonly string[]): string[] {
  const kept = new Set(wanted.map((rule) => `-A ${chain} ${rule}`))
  return rules
    .filter((rule) => rule.startsWith(`-A ${chain} `) && !kept.has(rule))
    .filter((rule) => replaces !== undefined && `${rule} `.includes(` ${replaces} `))
    .map((rule) => rule.replace('-A', '-D'))
}

/**
 * Pure. Throws an Error if Docker makes no rules for its networks (`--iptables=false`): the rules
 * are then managed by somebody else.
 */
export function checkDockersRules(rules: readonly string[], defaultBridge: string): void {
  const isDockers = rules.some((rule) => rule.endsWith(` -o ${defaultBridge} -j DOCKER`))
  if (!isDockers || !rules.includes('-N DOCKER-USER')) {
    throw new Error('Docker creates no iptables rules for its networks')
  }
}

/**
 * Runs `iptables` or `ip6tables` and returns its output. Waits up to 5 s for other programs that
 * change rules, as Docker does.
 */
export async function packetFilter(
  program: Guard['program'],
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { exitCode, stdout, stderr } = await run(program, ['-w', '5', ...args], { signal, timeoutMs: 10_000 })
  if (exitCode !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr.trim()}`)
  return stdout.toString()
}
