import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { ServicePlace } from '../api/follow-lines.ts'
import { lineName, readLineName } from '../api/line-link.ts'
import type { Line } from '../api/line-store.ts'
import { Button } from '../ui/Button.tsx'
import { Lines } from '../ui/Lines.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Problem } from '../ui/Problem.tsx'
import { exactTime } from '../ui/When.tsx'
import { LineDetails } from './LineDetails.tsx'
import { LinesNow } from './LinesNow.tsx'
import { LinesTools } from './LinesTools.tsx'
import type { LinesSearch } from './lines-search.ts'
import { ServiceFrame } from './ServiceFrame.tsx'
import { useLines } from './use-lines.ts'

const from = '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/lines'

/** All lines of a service, as they are printed. */
export function ServiceLinesPage() {
  const params = useParams({ from })
  return (
    <ServiceFrame params={params}>
      {({ name }, place) => <ServiceLog key={params.serviceId} {...{ place, name }} />}
    </ServiceFrame>
  )
}

function ServiceLog({ place, name }: { readonly place: ServicePlace; readonly name: string }) {
  const search = useSearch({ from })
  const navigate = useNavigate({ from })
  const router = useRouter()
  const choose = (next: LinesSearch) => void navigate({ search: next, replace: true })
  // The line of the address with which somebody came. Lines that are picked later change nothing.
  const [link, setLink] = useState(() => readLineName(search.line ?? ''))
  const [mark, setMark] = useState(search.text?.toLowerCase() ?? '')
  const [picked, setPicked] = useState<Line>()
  const [store, problem] = useLines(place, { ...search, link, onLinked: setPicked })
  const hrefOf = (line: Line): string => {
    const { pathname } = router.state.location
    return `${pathname}?${new URLSearchParams({ ...search, line: lineName(line) })}`
  }
  const pick = (line: Line): void => {
    store.hold()
    setPicked(line)
    choose({ ...search, line: lineName(line) })
  }
  const toNewest = (): void => {
    setLink(undefined)
    setPicked(undefined)
    choose({})
  }
  return (
    <>
      <LinesTools
        {...{ store, name, search }}
        onMark={setMark}
        onSearch={(text) => {
          setLink(undefined)
          choose(text === '' ? {} : { text })
        }}
      />
      <Problem error={problem && new Error(problem)} />
      {link && <LinkNotice at={link.at} onLeave={toNewest} />}
      <Lines
        {...{ store, mark, hrefOf }}
        label="Lines of the service"
        isTall
        onPick={pick}
        chosen={picked && store.placeOf(picked.number)}
      />
      <LinesNow store={store} isLinked={link !== undefined} />
      {picked && <LineDetails line={picked} href={hrefOf(picked)} onClose={() => setPicked(undefined)} />}
    </>
  )
}

interface LinkNoticeProps {
  readonly at: number
  readonly onLeave: () => void
}

const LinkNotice = ({ at, onLeave }: LinkNoticeProps) => (
  <Notice>
    <span>These are the lines until {exactTime(new Date(at).toISOString())}.</span>
    <Button onClick={onLeave}>Newest lines</Button>
  </Notice>
)
