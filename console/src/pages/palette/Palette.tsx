import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { isKind } from '../../api/kinds.ts'
import { projects } from '../../api/reads.ts'
import { organizationServices } from '../../api/reads-palette.ts'
import { CommandList } from '../../ui/CommandList.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { type Command, findCommands } from './command.ts'

interface PaletteProps {
  readonly organizationId: string
  readonly commands: readonly Command[]
  readonly onRun: (command: Command) => void
  readonly onClose: () => void
}

/** Finds everything that exists, and everything that can be done here, while one types. */
export function Palette({ organizationId, commands, onRun, onClose }: PaletteProps) {
  const [text, setText] = useState('')
  const { places, error } = usePlaces(organizationId)
  const groups = useMemo(() => findCommands([...commands, ...places], text), [commands, places, text])
  return (
    <CommandList label="Search and commands" {...{ text, groups }} onText={setText} onRun={onRun} onClose={onClose}>
      <Problem error={error} />
    </CommandList>
  )
}

/** Every project, environment and service of the organization. */
function usePlaces(organizationId: string): { readonly places: readonly Command[]; readonly error: unknown } {
  const navigate = useNavigate()
  const { data: all = [], error } = useQuery(projects(organizationId))
  const { data: services = [], error: serviceError } = useQuery(organizationServices(organizationId))
  const places = useMemo((): readonly Command[] => {
    const environments = all.flatMap((project) =>
      project.environments.map(
        ({ id, name }): Command => ({
          id,
          group: 'Environments',
          label: name,
          hint: project.name,
          run: () =>
            navigate({
              to: '/organizations/$organizationId/environments/$environmentId',
              params: { organizationId, environmentId: id },
            }),
        }),
      ),
    )
    const running = services.flatMap(({ id, name, service_type, environment_id: environmentId, ...of }): Command[] => {
      const kind = service_type.toLowerCase()
      if (!isKind(kind)) return []
      const run = () =>
        navigate({
          to: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId',
          params: { organizationId, environmentId, kind, serviceId: id },
        })
      return [{ id, group: 'Services', label: name, hint: `${of.project_name} / ${of.environment_name}`, run }]
    })
    const named = all.map(
      ({ id: projectId, name }): Command => ({
        id: projectId,
        group: 'Projects',
        label: name,
        hint: 'Variables of the project',
        run: () =>
          navigate({
            to: '/organizations/$organizationId/projects/$projectId/variables',
            params: { organizationId, projectId },
          }),
      }),
    )
    return [...environments, ...running, ...named]
  }, [all, services, navigate, organizationId])
  return { places, error: error ?? serviceError }
}
