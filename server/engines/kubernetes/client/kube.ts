import type { Duplex, Readable } from 'node:stream'
import type { AddressGuard } from '../../../lib/address.ts'
import { startDeadline } from '../../../lib/deadline.ts'
import { Secret } from '../../../lib/secret.ts'
import type { KubeAccess } from './access.ts'
import { KubeConnection, type KubeTarget } from './connection.ts'
import { type ContainerPlace, exec, type KubeExec } from './exec.ts'
import { type Kind, kindOf, kinds, pathOf } from './kinds.ts'
import { isKubeError, KubeError } from './kube-error.ts'
import { type KubeList, listObjects } from './list-objects.ts'
import type { KubeObject } from './objects.ts'
import { portForward } from './port-forward.ts'
import { readEvents, type WatchEvent } from './watch.ts'

/** The owner of the fields that the platform applies. */
export const fieldManager = 'quayside'

export interface KubeOptions {
  /** Returns how to reach the server. Called before the first request, and again if it failed. */
  readonly access: () => Promise<KubeAccess>
  /** Decides to which addresses the server may connect. */
  readonly guard: AddressGuard
  /** How long a watch may bring nothing, not even a bookmark, and how long it lasts. */
  readonly watches?: { readonly silenceMs: number; readonly lastMs: number }
}

/** Where an object is. Without a namespace: an object of the whole cluster. */
export interface Place {
  readonly namespace?: string | undefined
  readonly name: string
}

/** A selection of objects. Without a namespace: in all namespaces. */
export interface Selection {
  readonly namespace?: string | undefined
  readonly labels?: Readonly<Record<string, string>>
  /** A field selector such as `spec.nodeName=a`. */
  readonly fields?: string
  /** Without anything but the metadata of objects, such as the values of Secrets. */
  readonly metadataOnly?: boolean
}

/** Reads lines of a container. */
export interface LogWish {
  readonly follow: boolean
  /** Only lines from this second on (RFC 3339). */
  readonly sinceTime?: string
  /** Lines of the container before its last restart. */
  readonly previous?: boolean
  readonly tailLines?: number
  readonly limitBytes?: number
}

/**
 * API servers send a bookmark every minute. One that is silent for longer may be gone, and one that
 * brings only parts of an event ends with its watch.
 */
const usualWatches = { silenceMs: 150_000, lastMs: 300_000 }
/** How much longer than it was asked a server may take to end a watch. */
const endMs = 15_000

/** The API server of one cluster. Every call throws KubeError, or the reason of its signal. */
export type Kube = ReturnType<typeof createKube>

/** Nothing is connected before the first call. */
export function createKube(options: KubeOptions) {
  const connection = new KubeConnection(options)
  const write = <T extends KubeObject>(
    method: 'POST' | 'PATCH',
    path: string,
    {
      body,
      query,
      contentType,
    }: { body: unknown; query?: Readonly<Record<string, string | boolean>>; contentType: string },
    signal: AbortSignal,
  ): Promise<T> =>
    // The server answers with the object that was written.
    connection.json({ method, path, body, contentType, query: { fieldManager, ...query } }, signal) as Promise<T>

  return {
    async get<T extends KubeObject>(kind: Kind<T>, place: Place, signal: AbortSignal): Promise<T | undefined> {
      try {
        return (await connection.json({ path: pathOf(kind, place) }, signal)) as T
      } catch (error) {
        if (isKubeError(error, 404)) return undefined
        throw error
      }
    },

    /** Lists objects. Throws KubeError, `TooLong` for a list that is too long to keep. */
    list: <T extends KubeObject>(kind: Kind<T>, selection: Selection, signal: AbortSignal): Promise<KubeList<T>> =>
      listObjects(
        connection,
        { path: pathOf(kind, selection), query: queryOf(selection), accept: acceptOf(selection, 'List') },
        signal,
      ),

    /**
     * Creates or changes an object by server-side apply. Fields that an earlier apply had and this
     * one lacks are removed. Unknown fields are refused. A field that somebody else has applied is
     * a conflict (409) unless `force` is set.
     */
    apply<T extends KubeObject>(
      object: T,
      signal: AbortSignal,
      { force = true, dryRun = false, manager = fieldManager }: ApplyOptions = {},
    ): Promise<T> {
      const query = { force, fieldValidation: 'Strict', fieldManager: manager, ...(dryRun && { dryRun: 'All' }) }
      return write<T>(
        'PATCH',
        pathOf(kindOf(object), object.metadata),
        { body: object, query, contentType: 'application/apply-patch+yaml' },
        signal,
      )
    },

    /** Returns a new token of a service account, which ends after that many seconds. */
    async createToken({ namespace, name }: Place, expirationSeconds: number, signal: AbortSignal): Promise<Secret> {
      const path = `${pathOf(kinds.serviceAccount, { namespace, name })}/token`
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds } }
      const answer = await connection.json({ method: 'POST', path, body }, signal)
      const token: unknown = Object(Object(answer).status).token
      if (typeof token === 'string') return new Secret(token)
      throw new KubeError(0, 'Unreadable', 'the API server sent no token for a service account')
    },

    /** Creates an object. One that exists is an error (409). */
    create<T extends KubeObject>(object: T, signal: AbortSignal): Promise<T> {
      const path = pathOf(kindOf(object), { namespace: object.metadata.namespace })
      const query = { fieldValidation: 'Strict' }
      return write<T>('POST', path, { body: object, query, contentType: 'application/json' }, signal)
    },

    /** Changes some fields of an object; null removes one. */
    patch<T extends KubeObject>(kind: Kind<T>, place: Place, change: object, signal: AbortSignal): Promise<T> {
      const contentType = 'application/merge-patch+json'
      return write<T>('PATCH', pathOf(kind, place), { body: change, contentType }, signal)
    },

    /**
     * Begins to delete an object. Returns false if it does not exist, or is not the one of `uid`.
     */
    async remove(
      kind: Kind,
      place: Place,
      signal: AbortSignal,
      { graceSeconds, uid, propagation = 'Background' }: RemovalOptions = {},
    ): Promise<boolean> {
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: propagation,
        ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }),
        ...(uid !== undefined && { preconditions: { uid } }),
      }
      try {
        await connection.json({ method: 'DELETE', path: pathOf(kind, place), body }, signal)
        return true
      } catch (error) {
        if (isKubeError(error, 404) || (uid !== undefined && isKubeError(error, 409))) return false
        throw error
      }
    },

    /**
     * Returns changes after a version, until the server ends the watch, which it does after five
     * minutes. Throws KubeError: `Expired` if the version is too old, `Silent` if the server sends
     * nothing for too long or does not end the watch.
     */
    async *watch<T extends KubeObject>(
      kind: Kind<T>,
      selection: Selection & { readonly resourceVersion?: string | undefined },
      signal: AbortSignal,
    ): AsyncGenerator<WatchEvent<T>> {
      const { resourceVersion } = selection
      const { silenceMs, lastMs } = options.watches ?? usualWatches
      const timeoutSeconds = Math.ceil(lastMs / 1000)
      const query = { ...queryOf(selection), resourceVersion, watch: true, allowWatchBookmarks: true, timeoutSeconds }
      const deadline = startDeadline(lastMs + endMs, signal)
      try {
        const wish = { path: pathOf(kind, selection), query, accept: acceptOf(selection, ''), silenceMs }
        yield* readEvents<T>(await connection.stream(wish, deadline.signal), deadline.signal)
      } catch (cause) {
        signal.throwIfAborted()
        if (!deadline.isOver) throw cause
        throw new KubeError(0, 'Silent', 'the API server does not end a watch', { cause })
      }
    },

    /** Returns the lines of a container as they come, each after its time and a space. */
    log({ namespace, pod, container }: ContainerPlace, wish: LogWish, signal: AbortSignal): Promise<Readable> {
      const path = `/api/v1/namespaces/${namespace}/pods/${pod}/log`
      return connection.stream({ path, query: { container, timestamps: true, ...wish } }, signal)
    },

    exec: (
      place: ContainerPlace,
      command: readonly string[],
      streams: { readonly hasTerminal: boolean; readonly hasInput: boolean },
      signal: AbortSignal,
    ): Promise<KubeExec> => exec(connection, place, command, streams, signal),

    portForward: (
      pod: { readonly namespace: string; readonly pod: string },
      port: number,
      signal: AbortSignal,
    ): Promise<Duplex> => portForward(connection, pod, port, signal),

    /** Returns the version of the server, such as 1, 34 and `v1.34.4`. */
    async version(signal: AbortSignal): Promise<KubeVersion> {
      const { major, minor, gitVersion } = Object(await connection.json({ path: '/version' }, signal))
      // Some providers write `28+`.
      return { major: Number.parseInt(major, 10), minor: Number.parseInt(minor, 10), text: String(gitVersion) }
    },

    /** Returns any document of the API, such as the metrics of a namespace. */
    raw: (path: string, signal: AbortSignal): Promise<unknown> => connection.json({ path }, signal),

    /** Returns how to connect to the server, with its credentials. Throws KubeError. */
    target: (): Promise<KubeTarget> => connection.target(),

    /** Ends all connections. */
    close: (): void => connection.close(),
  }
}

export interface ApplyOptions {
  readonly force?: boolean
  readonly dryRun?: boolean
  /** The owner of the fields, if it is another one. */
  readonly manager?: string
}

export interface RemovalOptions {
  readonly graceSeconds?: number
  readonly uid?: string | undefined
  /** Whether the objects that it owns are deleted before it or after it. */
  readonly propagation?: 'Background' | 'Foreground'
}

export interface KubeVersion {
  readonly major: number
  readonly minor: number
  readonly text: string
}

const acceptOf = ({ metadataOnly }: Selection, form: 'List' | ''): string | undefined =>
  metadataOnly ? `application/json;as=PartialObjectMetadata${form};g=meta.k8s.io;v=v1` : undefined

const queryOf = ({ labels, fields }: Selection) => ({
  labelSelector:
    labels &&
    Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
  fieldSelector: fields,
})
