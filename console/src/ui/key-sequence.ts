/** The keys of a sequence that were pressed so far, such as `g` of `g p`. */
export interface Pressed {
  readonly keys: string
  /** Milliseconds of the page's clock. */
  readonly at: number
}

export interface KeyPress {
  readonly key: string
  readonly at: number
}

/** A sequence is forgotten after this time without a key. */
const forgottenMs = 1_200

export const nothingPressed: Pressed = { keys: '', at: 0 }

/**
 * Pure: the sequence after another key, and the known one that it completes. A key that continues
 * nothing begins a new sequence.
 */
export function press(
  before: Pressed,
  { key, at }: KeyPress,
  known: readonly string[],
): { readonly pressed: Pressed; readonly done: string | undefined } {
  const isFresh = before.keys !== '' && at - before.at <= forgottenMs
  for (const keys of [...(isFresh ? [`${before.keys} ${key}`] : []), key]) {
    if (known.includes(keys)) return { pressed: nothingPressed, done: keys }
    if (known.some((one) => one.startsWith(`${keys} `))) return { pressed: { keys, at }, done: undefined }
  }
  return { pressed: nothingPressed, done: undefined }
}

const typing = 'input, textarea, select, [contenteditable], [role="textbox"], [role="combobox"]'

/** Whether the key belongs to the element that has the focus, because somebody types there. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(typing) !== null
