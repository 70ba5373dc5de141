import { silent } from '../lib/attempt.ts'
import { nobodyWaits } from '../lib/nobody-waits.ts'
import { isFetched, leavesVariablesAlone } from '../releases/index.ts'
import { enterState } from '../requests/index.ts'
import { CanceledError } from '../workflows/index.ts'
import { fetchRelease } from './image-release.ts'
import type { Recipe, Work } from './recipe.ts'

interface Begun {
  readonly release: Promise<string>
  isOver: boolean
}

/**
 * The longest time that preparations wait for the engine to begin all starts. A start that has not
 * begun by then waits for its turn or for something else.
 */
const patienceMs = 1_000

/**
 * Freezes releases and fetches their images while the previous stage starts, because the engine has
 * time then. Limited to services that need no build, and to stages whose variables the previous
 * stage cannot change.
 */
export class Preparations {
  readonly #options: Recipe
  readonly #begun = new Map<Work, Begun>()
  readonly #end = new AbortController()
  #ground: Promise<void> = Promise.resolve()

  constructor(options: Recipe) {
    this.#options = options
  }

  /**
   * Lets the engine prepare the environment while images of the first stage are looked up. If that
   * fails, each start tries again. Skipped if anything is built: a failed build must leave nothing
   * behind.
   */
  ground(stage: readonly Work[]): void {
    const [first] = stage
    if (first?.request.action !== 'DEPLOY' || !stage.every(({ target }) => isFetched(target.kind))) return
    const { engine, log } = this.#options
    const environmentId = first.request.environment_id
    const attempt = { signal: first.context.signal, output: silent }
    this.#ground = engine.prepareEnvironment(environmentId, attempt).catch((error: unknown) => {
      log.debug({ err: error, environmentId }, 'the environment could not be prepared ahead; each start prepares it')
    })
  }

  /**
   * Begins the preparations of a stage once the engine has begun all starts of the current one,
   * which come first. The returned function must be called when the current stage has ended; no
   * preparation begins after that.
   */
  beginAfter(allBegun: Promise<unknown>, stage: readonly Work[], during: readonly Work[]): () => void {
    const over = new AbortController()
    const patience = this.#options.clock.sleep(patienceMs, over.signal)
    const begin = (): void => {
      if (!over.signal.aborted) this.#begin(stage, during)
    }
    void Promise.race([allBegun, patience]).then(begin, begin)
    return () => over.abort(nobodyWaits)
  }

  /** Begins the preparations. Their errors are reported in their own stage. */
  #begin(stage: readonly Work[], during: readonly Work[]): void {
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

  /**
   * Returns the id of a prepared release, if its preparation was begun. The service has its turn
   * now and becomes DEPLOYING.
   */
  async of(work: Work): Promise<string | undefined> {
    const begun = this.#begun.get(work)
    if (begun && !begun.isOver) await work.context.fenced((sql) => enterState(sql, work.target, 'DEPLOYING'))
    return begun?.release
  }

  /** Cancels the unfinished preparations and waits until they have ended. */
  async end(): Promise<void> {
    this.#end.abort(new CanceledError('canceled'))
    await Promise.allSettled([this.#ground, ...[...this.#begun.values()].map(({ release }) => release)])
  }
}

const mayBePrepared = ({ request, target }: Work): boolean =>
  request.action === 'DEPLOY' && target.wanted_release === null && isFetched(target.kind)
