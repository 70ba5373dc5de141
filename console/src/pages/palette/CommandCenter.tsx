import { useEffect, useRef, useState } from 'react'
import { useChange } from '../../api/change.ts'
import { Button } from '../../ui/Button.tsx'
import { deferred } from '../../ui/deferred.tsx'
import { isTyping, nothingPressed, press } from '../../ui/key-sequence.ts'
import { PlainDialog } from '../../ui/PlainDialog.tsx'
import { Problem } from '../../ui/Problem.tsx'
import type { Command } from './command.ts'
import { useCommands } from './use-commands.ts'

export const Palette = deferred(async () => (await import('./Palette.tsx')).Palette)
const Shortcuts = deferred(async () => (await import('./Shortcuts.tsx')).Shortcuts)

type Dialog = 'palette' | 'shortcuts' | undefined

/** The button that opens the palette, and the keys that work on every page. */
export function CommandCenter({ organizationId }: { readonly organizationId: string }) {
  const [dialog, setDialog] = useState<Dialog>()
  const commands = useCommands(organizationId)
  const act = useChange({ change: async (command: Command) => command.run() })
  const run = (command: Command): void => {
    setDialog(undefined)
    if (command.isChange) act.mutate(command)
    else void command.run()
  }
  useKeys([
    ...commands,
    { keys: '?', run: () => setDialog('shortcuts') },
    { keys: '/', run: () => document.querySelector<HTMLElement>('main input[type="search"]')?.focus() },
    { keys: 'Mod+k', run: () => setDialog('palette') },
  ])
  const close = (): void => setDialog(undefined)
  return (
    <>
      <Button onClick={() => setDialog('palette')}>
        Search <kbd>{modifier}K</kbd>
      </Button>
      {dialog === 'palette' && <Palette {...{ organizationId, commands }} onRun={run} onClose={close} />}
      {dialog === 'shortcuts' && <Shortcuts commands={commands} onClose={close} />}
      {act.error && (
        <PlainDialog title="That did not work" onClose={act.reset}>
          <Problem error={act.error} />
        </PlainDialog>
      )}
    </>
  )
}

/** Macs have a key of their own for commands. */
const modifier = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl '

/** Calls the command of a sequence of keys, unless somebody types or a dialog is open. */
function useKeys(commands: readonly Partial<Pick<Command, 'keys' | 'refusal' | 'run'>>[]): void {
  const now = useRef(commands)
  useEffect(() => {
    now.current = commands
  })
  useEffect(() => {
    let pressed = nothingPressed
    const listen = (event: KeyboardEvent): void => {
      if (isTyping(event.target) || document.querySelector('[role="dialog"]')) return
      if (event.altKey || event.defaultPrevented || event.key.length > 1) return
      const key = event.ctrlKey || event.metaKey ? `Mod+${event.key}` : event.key
      const known = now.current.flatMap(({ keys }) => keys ?? [])
      const next = press(pressed, { key, at: event.timeStamp }, known)
      pressed = next.pressed
      const command = next.done && now.current.find(({ keys }) => keys === next.done)
      if (!command) return
      event.preventDefault()
      if (command.refusal === undefined) void command.run?.()
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
}
