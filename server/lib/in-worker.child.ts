import { parentPort, workerData } from 'node:worker_threads'

/** The thread of `inWorker`: loads the module, calls the function and returns its result. */
const { module, name, argument } = workerData
const loaded = await import(module)
parentPort?.postMessage(await loaded[name](argument))
