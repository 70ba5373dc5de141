import { useParams } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import type { ServicePlace } from '../api/follow-lines.ts'
import { useReplicas } from '../api/running.ts'
import { openShell, type ShellWish } from '../api/shell.ts'
import { Button } from '../ui/Button.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Empty } from '../ui/Page.tsx'
import { type Program, type Size, Terminal } from '../ui/Terminal.tsx'
import { ServiceFrame } from './ServiceFrame.tsx'
import styles from './ShellForm.module.css'
import { ShellForm } from './ShellForm.tsx'

/** A shell in a replica of a service. */
export function ServiceShellPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/shell',
  })
  return <ServiceFrame params={params}>{(_, place) => <Shell key={params.serviceId} place={place} />}</ServiceFrame>
}

function Shell({ place }: { readonly place: ServicePlace }) {
  const replicas = useReplicas(place)
  const [open, setOpen] = useState<Omit<ShellWish, 'place'>>()
  const [ending, setEnding] = useState<string>()
  if (open) return <OpenShell wish={{ place, ...open }} onEnd={(reason) => [setOpen(undefined), setEnding(reason)]} />
  return (
    <>
      {ending !== undefined && <Notice>{ending}</Notice>}
      {replicas === undefined && <p role="status">Asking for the replicas …</p>}
      {replicas?.length === 0 && <Empty>Nothing runs, so there is nothing to open a shell in.</Empty>}
      {replicas && replicas.length > 0 && <ShellForm replicas={replicas} onOpen={setOpen} />}
    </>
  )
}

interface OpenShellProps {
  readonly wish: ShellWish
  readonly onEnd: (reason: string) => void
}

function OpenShell({ wish, onEnd }: OpenShellProps) {
  const bar = useRef<HTMLDivElement>(null)
  const start = (size: Size, write: (bytes: Uint8Array) => void): Promise<Program> =>
    openShell(wish, size, { onBytes: write, onEnd })
  return (
    <>
      <div ref={bar} className={styles['bar']}>
        <span>
          <code>{wish.command.join(' ')}</code> in {wish.pod}
        </span>
        <span className={styles['hint']}>F6 leaves the terminal. Ctrl+Shift+C copies, Ctrl+Shift+V pastes.</span>
        <Button onClick={() => onEnd('You closed the shell.')}>Close the shell</Button>
      </div>
      <Terminal
        label={`Terminal of ${wish.pod}`}
        start={start}
        onLeave={() => bar.current?.querySelector('button')?.focus()}
      />
    </>
  )
}
