import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import styles from './CommandList.module.css'
import dialog from './Dialog.module.css'

interface Item {
  readonly id: string
  readonly label: string
  readonly hint?: string
  readonly keys?: string
  readonly refusal?: string | undefined
}

interface Group<T> {
  readonly value: string
  readonly items: readonly T[]
}

interface CommandListProps<T> {
  readonly label: string
  readonly text: string
  readonly groups: readonly Group<T>[]
  readonly onText: (text: string) => void
  /** Called for a command that is not refused. */
  readonly onRun: (command: T) => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A field above a list of commands. Arrow keys choose one, and Enter runs it. */
export function CommandList<T extends Item>({
  label,
  text,
  groups,
  onText,
  onRun,
  onClose,
  children,
}: CommandListProps<T>) {
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={dialog['backdrop']} />
        <Base.Popup className={styles['popup']} aria-label={label}>
          <Autocomplete.Root
            open
            inline
            items={groups}
            filter={null}
            autoHighlight="always"
            keepHighlight
            value={text}
            onValueChange={(value, { reason }) => reason !== 'item-press' && onText(value)}
            itemToStringValue={(item: T) => item.label}
          >
            <Autocomplete.Input
              className={styles['input']}
              aria-label={label}
              placeholder="Search, or do something …"
            />
            {children}
            <Autocomplete.Empty>
              <p className={styles['empty']}>Nothing has this name.</p>
            </Autocomplete.Empty>
            <Autocomplete.List className={styles['list']} aria-label="Results">
              {(group: Group<T>) => (
                <Autocomplete.Group key={group.value} items={group.items}>
                  <Autocomplete.GroupLabel className={styles['group']}>{group.value}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(item: T) => <Row key={item.id} item={item} onRun={onRun} />}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** A refused command stays reachable, so that everybody can read the reason. */
const Row = <T extends Item>({ item, onRun }: { readonly item: T; readonly onRun: (item: T) => void }) => (
  <Autocomplete.Item
    value={item}
    className={styles['item']}
    aria-disabled={item.refusal !== undefined}
    onClick={() => item.refusal === undefined && onRun(item)}
  >
    <span>{item.label}</span>
    <small>{item.refusal ?? item.hint}</small>
    {item.keys && <kbd>{item.keys}</kbd>}
  </Autocomplete.Item>
)
