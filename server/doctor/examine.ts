import type { Finding, Outcome } from './check.ts'
import { engineChecks } from './engine-checks.ts'
import type { Facts } from './facts.ts'
import { checkHaproxy, checkHttp3 } from './haproxy-check.ts'
import * as machine from './machine-checks.ts'

/** Pure: returns every check, in the order in which it is printed. */
export function examine(facts: Facts): Finding[] {
  const outcomes: readonly (readonly [string, Outcome])[] = [
    ['settings', machine.checkSettings(facts)],
    ['node', machine.checkNode(facts)],
    ...facts.ports.map((port) => ['port', machine.checkPort(port, facts)] as const),
    ['public ports', machine.checkPublicPorts(facts)],
    ...facts.disks.flatMap(
      (disk) =>
        [
          ['disk', machine.checkDisk(disk)],
          ['inodes', machine.checkInodes(disk)],
        ] as const,
    ),
    ['memory', machine.checkMemory(facts)],
    ['kernel', machine.checkKernel(facts)],
    ['control groups', machine.checkControlGroups(facts)],
    ...engineChecks(facts),
    ['haproxy', checkHaproxy(facts.haproxy)],
    ['http3', checkHttp3(facts)],
    ['packet filter', machine.checkPacketFilter(facts)],
    ['git', machine.checkGit(facts)],
    ['domain', machine.checkDomain(facts)],
    ['clock', machine.checkClock(facts)],
    ...facts.files.map((file) => ['permissions', machine.checkFile(file)] as const),
  ]
  return outcomes.map(([check, outcome]) => ({ check, ...outcome }))
}
