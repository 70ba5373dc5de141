/** @typedef {{ commit?: string | null, former?: { commit?: string | null } | null }} Version */
/** @typedef {{ of?: { commit?: string | null } | null, pending: string[] }} Snapshot */

/**
 * What a rollback knows: the commit of the command line, the mark of an interrupted rollback, the
 * current commit, `version.json` and the record of the newest snapshot.
 * @typedef {{
 *   named?: string | undefined,
 *   mark?: { commit: string } | undefined,
 *   head: string,
 *   version?: Version | undefined,
 *   snapshot?: Snapshot | undefined,
 * }} Known
 */

/**
 * Pure: returns the commit to go back to. If only its first missing migration is known, returns
 * that as `before`.
 * @param {Known} known
 * @returns {{ commit?: string, before?: string, refusal?: string }}
 */
export function planRollback({ named, mark, head, version, snapshot }) {
  if (mark) return { commit: mark.commit }
  if (named) return { commit: named }
  // The version that was switched to never ran.
  if (version?.commit && version.commit !== head) return { commit: version.commit }
  if (version?.former?.commit) return { commit: version.former.commit }
  if (snapshot?.of?.commit && snapshot.of.commit !== head) return { commit: snapshot.of.commit }
  // The previous version did not record its commit. Its migrations identify it.
  if (snapshot && !snapshot.of && snapshot.pending[0]) return { before: snapshot.pending[0] }
  return {
    refusal: 'The previous version is unknown. Name the commit to go back to: npm run rollback-upgrade -- <commit>',
  }
}
