import { clamp } from '../../shared/text.ts';
import { queryText } from '../api.ts';
import type { AuditLogPage as Page } from '../api-types.ts';
import { ListState, More } from '../ui/list-state.tsx';
import { usePages } from '../ui/pages-list.ts';
import { PageHead, Time, useTitle } from '../ui/parts.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useWords } from '../words.ts';

export function AuditLogPage() {
  const words = useWords();
  useTitle(words.auditLog);
  const log = usePages<Page>(['audit-log'], (cursor) => `/v1/audit-log${queryText({ limit: 50, cursor })}`);
  const entries = log.data?.pages.flatMap((page) => page.entries);
  return (
    <>
      <PageHead title={words.team} />
      <Tabs of="team" />
      <ListState error={log.error} count={entries?.length} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard */}
      <section className="scroll" aria-label={words.auditLog} tabIndex={0}>
        <table className="plain stacked">
          <thead>
            <tr>
              <th scope="col">{words.when}</th>
              <th scope="col">{words.who}</th>
              <th scope="col">{words.what}</th>
              <th scope="col">{words.subject}</th>
              <th scope="col">{words.address}</th>
            </tr>
          </thead>
          <tbody>
            {entries?.map(({ id, at, actor, actorName, action, subject, address }) => (
              <tr key={id}>
                <td className="soft">
                  <Time at={at} isExact />
                </td>
                <td>
                  <bdi>{clamp(actorName ?? actor, 40)}</bdi>
                </td>
                <td>
                  <code dir="ltr">{action}</code>
                </td>
                <td className="soft">
                  <code dir="ltr">{clamp(subject, 40)}</code>
                </td>
                <td className="soft">
                  <code dir="ltr">{address}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <More list={log} />
    </>
  );
}
