import { LINE_FIELDS, MONEY_LINES } from '../src/domain/money-line.ts';

/** `docs/log.md`: the lines of the log about money. */
export function logPage(): string {
  const fields = Object.entries(LINE_FIELDS).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`);
  const lines = MONEY_LINES.map(([name, summary]) => `| \`${name}\` | ${summary} |`);
  return `# The log of money

A node writes one line for each decision about money, at the level \`info\`, after the transaction of the decision was committed:

\`\`\`json
{
  "level": "info", "time": "2026-11-18T09:30:41.262Z", "money": "payment.succeeded", "subject": "pay_…", "merchantId": "mrch_…",
  "asset": "eip155:8453/erc20:0x8335…", "amount": "19990000", "transaction": "0x…", "actor": "watcher",
  "at": "2026-11-18T09:30:41.250Z", "msg": "money"
}
\`\`\`

Every line with the field \`money\` is one. Names and fields stay; new ones may be added. A decision is a row of one of three journals, and its line has the name of that row: an
[event](events.md), an entry of the [books](books.md) (\`books.…\`), or an entry of the audit log. The function that writes the row also leaves the line with the transaction, so no code path
can forget it, and nothing that was rolled back is logged. A decision that an event and an entry record has one line, that of the event.

Lines help to search and to alert. The journals are the truth: a node that is killed between the commit and the line writes none, and a command of an operator that decides at
once, such as \`till freeze\`, has no log and leaves its decision in the audit log. \`LOG_LEVEL=warn\` switches the lines off.

## Fields

A field without a value is left out. There is no account of a payer, no name, no free text and no secret in a line ([data about payers](payer-data.md)).

| field | |
| --- | --- |
${fields.join('\n')}

## Decisions

| \`money\` | decision |
| --- | --- |
${lines.join('\n')}

The creation of a payment, changes of payment links and merchants, and gas are no decisions about money, and have no line. A line takes some 8 µs of processor time (19 November 2026, on a
busy Intel Xeon); a payment that is paid has two, beside the 2.2 ms of [settling it](benchmarks.md).
`;
}
