/**
 * The fleet process: it carries events from their jobs through their lanes into their orders, and sweeps behind the fleet.
 *
 * For: running one worker inside another process (tests, measurements) over ports or connections that the caller opened.
 * Not for: production, where `main.ts` is started as a process of its own; and not for deciding what an event means, whose
 * turn it is or what counts as done, which the packages below it do.
 */
export { createFleetWorker, type FleetWorker, type FleetWorkerOptions } from "./fleet-worker.ts";
