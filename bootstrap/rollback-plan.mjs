/** @typedef {{ commit?: string | null, former?: { commit?: string | null } | null }} Version */
/** @typedef {{ of?: { commit?: string | null } | null, pending: string[] }} Snapshot */

/**
 * Pure: which commit to go back to, out of `{ named, mark, head, version, snapshot }`: what the command line names, what a rollback that was
 * cut off left, the present commit, `version.json` and the record of the newest snapshot. Gives `{ commit }`, or `{ before }`, the migration
 * that it does not have yet, or `{ refusal }`.
 * @param {{ named?: string | undefined, mark?: { commit: string } | undefined, head: string, version?: Version | undefined, snapshot?: Snapshot | undefined }} found
 * @returns {{ commit?: string, before?: string, refusal?: string }}
 */
export function planRollback({ named, mark, head, version, snapshot }) {
  if (mark) return { commit: mark.commit }
  if (named) return { commit: named }
  // The version that was switched to never came to run.
  if (version?.commit && version.commit !== head) return { commit: version.commit }
  if (version?.former?.commit) return { commit: version.former.commit }
  if (snapshot?.of?.commit && snapshot.of.commit !== head) return { commit: snapshot.of.commit }
  // What ran before did not write down what it was; its migrations tell.
  if (snapshot && !snapshot.of && snapshot.pending[0]) return { before: snapshot.pending[0] }
  return {
    refusal:
      'It is not known what ran here before. Name the commit to go back to: npm run rollback-upgrade -- <commit>',
  }
}
