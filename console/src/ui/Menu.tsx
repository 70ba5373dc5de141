import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { Button } from './Button.tsx'
import styles from './Menu.module.css'

export interface MenuItem {
  readonly label: string
  readonly onSelect: () => void
  /** Why it cannot be chosen now. The item shows it. */
  readonly refusal?: string | undefined
  readonly look?: 'plain' | 'danger'
}

interface MenuProps {
  readonly label: string
  readonly items: readonly MenuItem[]
}

/** Pure: the item that gets the focus after a key. Undefined if the key does not move it. */
export function focusedAfter(key: string, focused: number, count: number): number | undefined {
  if (key === 'ArrowDown') return (focused + 1) % count
  if (key === 'ArrowUp') return (focused - 1 + count) % count
  if (key === 'Home') return 0
  return key === 'End' ? count - 1 : undefined
}

/** A button with further actions. Arrows move among them, and Escape closes it. */
export function Menu({ label, items }: MenuProps) {
  const [focused, setFocused] = useState<number>()
  const frame = useRef<HTMLDivElement>(null)
  const id = useId()
  const isOpen = focused !== undefined
  useEffect(() => {
    if (focused !== undefined) itemsIn(frame.current)[focused]?.focus()
  }, [focused])
  const close = (): void => {
    setFocused(undefined)
    frame.current?.querySelector('button')?.focus()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen) return
    if (event.key === 'Escape') close()
    const next = focusedAfter(event.key, focused, items.length)
    if (next === undefined) return
    event.preventDefault()
    setFocused(next)
  }
  return (
    <div ref={frame} className={styles['frame']}>
      <Button opens={{ isOpen, id }} onClick={() => setFocused(isOpen ? undefined : 0)}>
        {label}
      </Button>
      {isOpen && (
        <div
          {...{ id, onKeyDown }}
          role="menu"
          tabIndex={-1}
          aria-label={label}
          className={styles['menu']}
          onBlur={({ relatedTarget }) => !frame.current?.contains(relatedTarget) && setFocused(undefined)}
        >
          {items.map((item) => (
            <Item key={item.label} item={item} onChosen={close} />
          ))}
        </div>
      )}
    </div>
  )
}

function Item({ item, onChosen }: { readonly item: MenuItem; readonly onChosen: () => void }) {
  const { label, onSelect, refusal, look = 'plain' } = item
  const reasonId = useId()
  return (
    <div role="none" className={styles['item']}>
      <button
        type="button"
        role="menuitem"
        tabIndex={-1}
        data-look={look}
        aria-disabled={refusal !== undefined}
        aria-describedby={refusal === undefined ? undefined : reasonId}
        title={refusal}
        onClick={() => {
          if (refusal !== undefined) return
          onChosen()
          onSelect()
        }}
      >
        {label}
      </button>
      {refusal !== undefined && <small id={reasonId}>{refusal}</small>}
    </div>
  )
}

const itemsIn = (frame: HTMLElement | null): readonly HTMLElement[] => [
  ...(frame?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? []),
]
