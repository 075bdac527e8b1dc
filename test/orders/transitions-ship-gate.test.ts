import { describe } from "vitest";
import {
  added,
  authorized,
  captured,
  failed,
  line,
  placed,
  refunded,
  reserved,
  sale,
  shipped,
  voided,
} from "./events.ts";
import { checkTransitions } from "./transitions.ts";

describe("the ship gate", () => {
  const allReserved = [reserved("r-1", "L1", 4), reserved("r-2", "L2", 2)];
  const gated = (shipGate: "captured" | "authorized", adjustment = 0) => [
    placed([line("L1", 4), line("L2", 2)], { shipGate, adjustment }),
    ...allReserved,
  ];

  checkTransitions([
    {
      says: "nothing is paid",
      given: gated("captured"),
      when: shipped("s-1", { L1: 1 }),
      gives: "deferred PAYMENT_NOT_CONFIRMED",
    },
    {
      says: "an authorization is not a capture",
      given: [...gated("captured"), authorized("a-1", 600)],
      when: shipped("s-1", { L1: 1 }),
      gives: "deferred PAYMENT_NOT_CONFIRMED",
    },
    {
      says: "the parcel is paid, the order is not",
      given: [...gated("captured"), authorized("a-1", 600), captured("c-1", "a-1", 300)],
      when: shipped("s-1", { L1: 3 }),
      gives: "applied",
    },
    {
      says: "the parcel costs more than is paid",
      given: [...gated("captured"), authorized("a-1", 600), captured("c-1", "a-1", 300)],
      when: shipped("s-1", { L1: 2, L2: 2 }),
      gives: "deferred PAYMENT_NOT_CONFIRMED",
    },
    {
      says: "this parcel and the earlier one cost more than is paid",
      given: [...gated("captured"), sale("c-1", 300), shipped("s-1", { L1: 2 })],
      when: shipped("s-2", { L2: 2 }),
      gives: "deferred PAYMENT_NOT_CONFIRMED",
    },
    {
      says: "shipping costs are paid with the first parcel",
      given: [...gated("captured", 50), sale("c-1", 100)],
      when: shipped("s-1", { L1: 1 }),
      gives: "deferred PAYMENT_NOT_CONFIRMED",
    },
    {
      says: "a discount counts from the first parcel",
      given: [...gated("captured", -100)],
      when: shipped("s-1", { L1: 1 }),
      gives: "applied",
    },
    {
      says: "an authorization is enough where that was agreed",
      given: [...gated("authorized"), authorized("a-1", 600)],
      when: shipped("s-1", { L1: 4, L2: 2 }),
      gives: "applied",
      shows: { derived: { status: "in_fulfilment", fulfilmentStatus: "shipped" } },
    },
    {
      says: "authorized and captured count together",
      given: [...gated("authorized"), sale("c-1", 300), authorized("a-1", 300)],
      when: shipped("s-1", { L1: 4, L2: 2 }),
      gives: "applied",
    },
    {
      says: "what was voided does not count",
      given: [...gated("authorized"), authorized("a-1", 600), voided("v-1", "a-1", 1)],
      when: shipped("s-1", { L1: 4, L2: 2 }),
      gives: "deferred PAYMENT_NOT_CONFIRMED",
    },
    {
      says: "everything was given back",
      given: [...gated("captured"), sale("c-1", 600), refunded("f-1", "c-1", 600)],
      when: shipped("s-1", { L1: 1 }),
      gives: "deferred PAYMENT_NOT_CONFIRMED",
    },
    {
      says: "everything was given back, though more is authorized",
      given: [...gated("authorized"), sale("c-1", 600), refunded("f-1", "c-1", 600), authorized("a-1", 600)],
      when: shipped("s-1", { L1: 1 }),
      gives: "deferred PAYMENT_NOT_CONFIRMED",
    },
    {
      says: "a part was given back",
      given: [...gated("captured"), sale("c-1", 600), refunded("f-1", "c-1", 599)],
      when: shipped("s-1", { L1: 4, L2: 2 }),
      gives: "applied",
    },
    {
      says: "the capture failed later",
      given: [...gated("captured"), sale("c-1", 600), failed("capture", "c-1")],
      when: shipped("s-1", { L1: 1 }),
      gives: "deferred PAYMENT_NOT_CONFIRMED",
    },
    {
      says: "nothing is payable, so nothing needs to be paid",
      given: [placed([line("L1", 1, 0)]), reserved("r-1", "L1", 1)],
      when: shipped("s-1", { L1: 1 }),
      gives: "applied",
      shows: { derived: { status: "completed" } },
    },
    {
      says: "a later line is paid for like the others",
      given: [
        ...gated("captured"),
        sale("c-1", 600),
        added("L3", 1),
        reserved("r-3", "L3", 1),
        shipped("s-1", { L1: 4, L2: 2 }),
      ],
      when: shipped("s-2", { L3: 1 }),
      gives: "deferred PAYMENT_NOT_CONFIRMED",
    },
  ]);
});
