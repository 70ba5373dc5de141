import { Link, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { kinds } from '../../api/kinds.ts'
import type { VariableUses } from '../../api/reads-variable-uses.ts'
import type { StageRow } from '../../api/stage-rows.ts'
import { Graph } from '../../ui/Graph.tsx'
import { State } from '../../ui/State.tsx'
import { type MapBox, mapLayout } from '../map-layout.ts'
import styles from './EnvironmentMap.module.css'

interface EnvironmentMapProps {
  readonly stages: readonly StageRow[]
  readonly links: VariableUses['service_links']
}

/** The services as boxes in columns by stage. A line leads to the service that variables name. */
export function EnvironmentMap({ stages, links }: EnvironmentMapProps) {
  const { boxes, lines } = useMemo(() => mapLayout(stages, links), [stages, links])
  return (
    <>
      <Graph label="Map of the services" boxes={boxes} lines={lines} Content={Content} />
      <p className={styles['hint']}>
        A line leads to the service whose built-in variables another one gets. Arrow keys move from service to service.
      </p>
    </>
  )
}

function Content({ data }: Pick<MapBox, 'data'>) {
  const { organizationId, environmentId } = useParams({
    from: '/organizations/$organizationId/environments/$environmentId',
  })
  if ('heading' in data) return <h2 className={styles['heading']}>{data.heading}</h2>
  const { id, name, kind, status } = data
  return (
    <Link
      className={styles['service']}
      to="/organizations/$organizationId/environments/$environmentId/$kind/$serviceId"
      params={{ organizationId, environmentId, kind, serviceId: id }}
      preload={false}
    >
      <strong>{name}</strong>
      <span className={styles['about']}>
        <State state={status.state} />
        <small>{kinds[kind].noun}</small>
      </span>
    </Link>
  )
}
