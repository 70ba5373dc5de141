/**
 * The content of each stream: lines, states, pods, figures, and the bytes of shells and ports.
 * Knows no connections and no rights.
 */
export { createStreams, type Feeds, type Outlet, type StreamCall, type StreamsOptions } from './streams.ts'
