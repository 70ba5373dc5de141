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
 * What starts comes first, so long at most: then the rest of it waits for its turn, or for
 * something else.
 */
const patienceMs = 1_000

/**
 * Releases that are frozen, and their images fetched, while the services of the stage before are
 * starting: the engine has time for that then. Only where nothing that the earlier stage does could
 * change what a later one is given, and only what needs no build.
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
   * While images of the first stage are asked for, the engine makes what they will run in. What it
   * cannot make now it is asked for by each start. Not where something is built: a build that fails
   * shall leave nothing.
   */
  ground(stage: readonly Work[]): void {
    const [first] = stage
    if (first?.request.action !== 'DEPLOY' || !stage.every(({ target }) => isFetched(target.kind))) return
    const { engine, log } = this.#options
    const environmentId = first.request.environment_id
    const attempt = { signal: first.context.signal, output: silent }
    this.#ground = engine.prepareEnvironment(environmentId, attempt).catch((error: unknown) => {
      log.debug({ err: error, environmentId }, 'an environment is prepared later')
    })
  }

  /**
   * Begins what may be prepared of a stage while another one starts, once the engine has begun all
   * of that: it comes first. The function that is given back has to be called when the other stage
   * is over; then nothing is begun any more.
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

  /** What goes wrong with it is told in its own stage. */
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
   * The id of the release where it was begun; its service has its turn now, and is said to be under
   * way.
   */
  async of(work: Work): Promise<string | undefined> {
    const begun = this.#begun.get(work)
    if (begun && !begun.isOver) await work.context.fenced((sql) => enterState(sql, work.target, 'DEPLOYING'))
    return begun?.release
  }

  /** Gives up what is still under way, and waits until nothing is. */
  async end(): Promise<void> {
    this.#end.abort(new CanceledError('canceled'))
    await Promise.allSettled([this.#ground, ...[...this.#begun.values()].map(({ release }) => release)])
  }
}

const mayBePrepared = ({ request, target }: Work): boolean =>
  request.action === 'DEPLOY' && target.wanted_release === null && isFetched(target.kind)
