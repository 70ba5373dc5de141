/**
 * @typedef {{
 *   isAncestor: boolean,
 *   upstream: string,
 *   nodeVersion: string,
 *   wantedNode?: string | undefined,
 *   freeBytes: number,
 *   neededBytes: number,
 *   place: string,
 * }} Found
 */

/**
 * Pure: returns why a checkout cannot be upgraded; undefined if it can.
 * @param {Found} found
 */
export function refuseUpgrade({ isAncestor, upstream, nodeVersion, wantedNode, freeBytes, neededBytes, place }) {
  if (!isAncestor) {
    return (
      `This checkout has commits that ${upstream} does not have, so it cannot be fast-forwarded. ` +
      'Merge or rebase them by hand (git pull), and try again.'
    )
  }
  const least = Number(/^>=(\d+)/.exec(wantedNode ?? '')?.[1] ?? 0)
  if (Number(nodeVersion.split('.')[0]) < least) {
    return (
      `The new version needs Node.js ${least} or newer, this is ${nodeVersion}. ` +
      'Install it from https://nodejs.org and try again.'
    )
  }
  if (freeBytes < neededBytes) {
    /** @param {number} bytes */
    const mebibytes = (bytes) => Math.ceil(bytes / 1024 ** 2)
    return (
      `The new version is prepared in ${place}, which needs about ${mebibytes(neededBytes)} MiB; ` +
      `${mebibytes(freeBytes)} MiB are free. Make room and try again.`
    )
  }
  return undefined
}

const shownCommits = 20

/**
 * Pure: returns a description of what an upgrade will change.
 * @param {{ head: string, target: string, commits: string[], migrations: string[] }} change
 */
export function describeUpgrade({ head, target, commits, migrations }) {
  const more = commits.length - shownCommits
  const count = `${commits.length} ${commits.length === 1 ? 'commit' : 'commits'}`
  return [
    `From ${head.slice(0, 12)} to ${target.slice(0, 12)}, ${count}:`,
    ...commits.slice(0, shownCommits).map((line) => `  ${line}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
    migrations.length > 0 ? 'The database schema is changed by:' : 'The database schema is unchanged.',
    ...migrations.map((name) => `  ${name}`),
  ].join('\n')
}
