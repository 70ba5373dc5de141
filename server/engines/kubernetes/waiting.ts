import type { EngineReason } from '../engine.ts'
import type { Waiting } from './pod-state.ts'

/** Kubernetes' words for a container whose image cannot be had. */
const imageReasons = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull', 'ImageInspectError']
/** Parts of a registry's answer that a later try does not change. */
const finalAnswers = [
  'not found',
  'manifest unknown',
  'denied',
  'unauthorized',
  'invalid reference',
  'no match for platform',
]
/** Settings of the pod that the node does not take. */
const settingReasons = ['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError', 'StartError']

/** Says in a sentence what a pod waits for. */
export function explainWaiting({ reason, message }: Waiting): string {
  const said = message === '' ? '' : `: ${message}`
  if (imageReasons.includes(reason)) return `the image cannot be fetched${said}`
  if (reason === 'NodeLost') return message
  if (reason === 'Unschedulable') return `no node takes it${said}`
  if (reason === 'CrashLoopBackOff') return 'it waits before its next start because it keeps exiting'
  if (reason === 'ContainerCreating' || reason === 'PodInitializing') return 'it is being created'
  if (settingReasons.includes(reason)) return `its container cannot be started${said}`
  return `${reason}${said}`
}

/** Returns why no further wait helps, if it does not. */
export function finalReason(waiting: Waiting, image: string): { reason: EngineReason; message: string } | undefined {
  const { reason, message } = waiting
  if (!imageReasons.includes(reason)) return undefined
  const isFinal = reason === 'InvalidImageName' || reason === 'ErrImageNeverPull' || mentions(message, finalAnswers)
  if (isFinal) return { reason: 'image-missing', message: `there is no image "${image}" for the cluster: ${message}` }
  return undefined
}

/** Whether the image cannot be had at the moment because the registry does not answer. */
export const isRegistryAway = ({ reason }: Waiting): boolean => imageReasons.includes(reason)

const mentions = (text: string, parts: readonly string[]): boolean => {
  const lower = text.toLowerCase()
  return parts.some((part) => lower.includes(part))
}
