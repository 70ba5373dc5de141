import { PlainDialog } from '../../ui/PlainDialog.tsx'
import { Table } from '../../ui/Table.tsx'
import type { Command } from './command.ts'

const everywhere = [
  { keys: 'Ctrl k or ⌘ k', label: 'Search and commands' },
  { keys: '/', label: 'Search on this page' },
  { keys: '?', label: 'This list' },
]

interface ShortcutsProps {
  readonly commands: readonly Command[]
  readonly onClose: () => void
}

/** The keys that work on this page. None works while somebody types. */
export const Shortcuts = ({ commands, onClose }: ShortcutsProps) => (
  <PlainDialog title="Keyboard shortcuts" onClose={onClose}>
    <p>They work while no field has the focus. Keys of a sequence are pressed one after the other.</p>
    <Table label="Keyboard shortcuts" columns={['Keys', 'Does']}>
      {[...everywhere, ...commands].map(
        ({ keys, label }) =>
          keys && (
            <tr key={keys}>
              <td>
                <kbd>{keys}</kbd>
              </td>
              <td>{label}</td>
            </tr>
          ),
      )}
    </Table>
  </PlainDialog>
)
