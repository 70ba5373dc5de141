import type { Page } from 'playwright-core'

/** The outcome of going through a page with the Tab key. */
export interface KeyboardWalk {
  /** Controls that Tab does not reach. */
  readonly missed: readonly string[]
  /** Controls that show no outline when they are reached. */
  readonly unmarked: readonly string[]
  /** Whether Tab leaves the last control. */
  readonly leaves: boolean
}

/** Lists visible controls. One radio button stands for its group, as for the Tab key. */
const mark = `(() => {
  const controls = [...document.querySelectorAll(
    'a[href], button, input, select, textarea, summary, [tabindex="0"]')]
    .filter((one) => !one.disabled && one.checkVisibility({ visibilityProperty: true }) && one.type !== 'radio')
  controls.forEach((one, index) => (one.dataset.stop = index))
  document.activeElement.blur()
  return controls.map((one) => one.outerHTML.slice(0, 200))
})()`
interface Look {
  readonly stop?: string
  readonly isMarked: boolean
  readonly isBody: boolean
}

const look = `(() => {
  const one = document.activeElement
  const { outlineStyle, outlineWidth } = getComputedStyle(one)
  const isMarked = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0
  return { stop: one.dataset.stop, isMarked, isBody: one === document.body }
})()`

/** Presses Tab until the focus has left the page, from its beginning. */
export async function walkByKeyboard(page: Page): Promise<KeyboardWalk> {
  const controls = await page.evaluate<string[]>(mark)
  const reached = new Set<number>()
  const marked = new Set<number>()
  let leaves = false
  let last = -1
  // Fields of dates have a stop for each of their parts.
  const most = controls.length + 20
  for (let presses = 0; presses < most; presses++) {
    await page.keyboard.press('Tab')
    const { stop, isMarked, isBody } = await page.evaluate<Look>(look)
    const at = Number(stop)
    leaves = isBody || (at !== last && reached.has(at))
    if (leaves) break
    last = at
    reached.add(at)
    if (isMarked) marked.add(at)
  }
  const listed = (isListed: (index: number) => boolean): string[] => controls.filter((_, index) => isListed(index))
  return {
    missed: listed((index) => !reached.has(index)),
    unmarked: listed((index) => reached.has(index) && !marked.has(index)),
    leaves,
  }
}
