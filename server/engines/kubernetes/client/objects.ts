/** An object of Kubernetes. The types of this file have only the fields that the platform reads. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Metadata
}

export interface Metadata {
  readonly name: string
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  /** RFC 3339, in whole seconds, like all times of Kubernetes. */
  readonly creationTimestamp?: string
  /** Set while the object is being deleted. */
  readonly deletionTimestamp?: string
  /** The owners of fields. `fieldsV1` has a member `f:<name>` for each field. */
  readonly managedFields?: readonly {
    readonly manager?: string
    readonly operation?: 'Apply' | 'Update'
    readonly subresource?: string
    readonly fieldsV1?: object
  }[]
  readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly uid: string }[]
}

/** A statement about an object. */
export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: 'Active' | 'Terminating'; readonly conditions?: readonly Condition[] }
}

export interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean }
  readonly status?: {
    /** Quantities such as `1930m` and `24Gi`. */
    readonly capacity?: Readonly<Record<string, string>>
    readonly allocatable?: Readonly<Record<string, string>>
    readonly conditions?: readonly Condition[]
    readonly nodeInfo?: {
      readonly architecture: string
      readonly kubeletVersion: string
      readonly kernelVersion?: string
      readonly operatingSystem?: string
      readonly osImage?: string
    }
  }
}

export interface Pod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string
    readonly terminationGracePeriodSeconds?: number
    readonly initContainers?: readonly Container[]
    readonly containers: readonly Container[]
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[]
  }
  readonly status?: {
    readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'
    readonly podIP?: string
    readonly reason?: string
    readonly message?: string
    readonly conditions?: readonly Condition[]
    readonly containerStatuses?: readonly ContainerStatus[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
  }
}

export interface Container {
  readonly name: string
  readonly image?: string
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[]
  readonly resources?: {
    readonly limits?: Readonly<Record<string, string>>
    readonly requests?: Readonly<Record<string, string>>
  }
}

export interface ContainerStatus {
  readonly name: string
  readonly ready: boolean
  readonly restartCount: number
  readonly started?: boolean
  readonly state?: ContainerState
  readonly lastState?: ContainerState
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly running?: { readonly startedAt?: string }
  readonly terminated?: {
    readonly exitCode: number
    readonly signal?: number
    readonly reason?: string
    readonly message?: string
    readonly startedAt?: string
    readonly finishedAt?: string
  }
}

export interface Deployment extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly template?: { readonly spec: Pod['spec'] } }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly conditions?: readonly Condition[]
  }
}

export interface Job extends KubeObject {
  readonly spec: { readonly suspend?: boolean }
  readonly status?: {
    readonly active?: number
    readonly succeeded?: number
    readonly failed?: number
    readonly startTime?: string
    readonly completionTime?: string
    readonly conditions?: readonly Condition[]
  }
}

export interface Service extends KubeObject {
  readonly spec?: {
    readonly clusterIP?: string
    readonly type?: string
    readonly selector?: Readonly<Record<string, string>>
    readonly ports?: readonly {
      readonly name?: string
      readonly port: number
      readonly targetPort?: number | string
      readonly protocol?: string
      readonly nodePort?: number
    }[]
  }
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly object[] } }
}

/** Values are base64. */
export interface SecretObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec?: {
    readonly storageClassName?: string
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> }
  }
  readonly status?: {
    readonly phase?: 'Pending' | 'Bound' | 'Lost'
    readonly capacity?: Readonly<Record<string, string>>
  }
}

export interface ResourceQuota extends KubeObject {
  readonly spec?: { readonly hard?: Readonly<Record<string, string>> }
  /** Limits that the cluster has begun to count. */
  readonly status?: { readonly hard?: Readonly<Record<string, string>> }
}

/** Something that happened to an object. */
export interface EventObject extends KubeObject {
  readonly involvedObject: { readonly kind?: string; readonly name?: string; readonly uid?: string }
  readonly reason?: string
  readonly message?: string
  readonly type?: 'Normal' | 'Warning'
  readonly count?: number
  readonly lastTimestamp?: string
  readonly eventTime?: string
}

export interface Ingress extends KubeObject {
  readonly spec?: { readonly ingressClassName?: string }
}

export interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[]
}

export interface StorageClass extends KubeObject {
  readonly provisioner: string
  readonly volumeBindingMode?: string
}

/** The answer to the question whether the caller may do something. */
export interface AccessReview extends KubeObject {
  readonly status?: { readonly allowed: boolean; readonly reason?: string }
}

export interface CustomObject extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>
}

export interface CronJob extends KubeObject {
  readonly spec: { readonly suspend?: boolean }
}
