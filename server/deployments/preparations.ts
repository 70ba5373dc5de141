import { CanceledError } from '../workflows/index.ts'
import { fetchRelease } from './image-release.ts'
import type { RecipeOptions, Work } from './recipe.ts'
import { enterState } from './target-store.ts'
import { isFetched, leavesVariablesAlone } from './versioned.ts'

interface Begun {
  readonly release: Promise<string>
  isOver: boolean
}

/**
 * Releases that are frozen, and their images fetched, while the services of the stage before are starting: the engine has time for that
 * then. Only where nothing that the earlier stage does could change what a later one is given, and only what needs no build.
 */
export class Preparations {
  readonly #options: RecipeOptions
  readonly #begun = new Map<Work, Begun>()
  readonly #end = new AbortController()

  constructor(options: RecipeOptions) {
    this.#options = options
  }

  /** Begins what may be prepared of a stage while another one starts. What goes wrong with it is told in its own stage. */
  begin(stage: readonly Work[], during: readonly Work[]): void {
    if (!during.every(({ target }) => leavesVariablesAlone(target.kind))) return
    for (const work of stage) {
      if (!mayBePrepared(work) || work.target.finished_at !== null || work.context.signal.aborted) continue
      const release = fetchRelease(this.#options, work, this.#end.signal)
      const begun: Begun = { release, isOver: false }
      const over = (): void => {
        begun.isOver = true
      }
      release.then(over, over)
      this.#begun.set(work, begun)
    }
  }

  /** The id of the release where it was begun; its service has its turn now, and is said to be under way. */
  async of(work: Work): Promise<string | undefined> {
    const begun = this.#begun.get(work)
    if (begun && !begun.isOver) await work.context.fenced((sql) => enterState(sql, work.target, 'DEPLOYING'))
    return begun?.release
  }

  /** Gives up what is still under way, and waits until nothing is. */
  async end(): Promise<void> {
    this.#end.abort(new CanceledError('canceled'))
    await Promise.allSettled([...this.#begun.values()].map(({ release }) => release))
  }
}

const mayBePrepared = ({ request, target }: Work): boolean =>
  request.action === 'DEPLOY' && target.wanted_release === null && isFetched(target.kind)
