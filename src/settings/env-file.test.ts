import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SETTINGS } from './config.ts';
import { changeEnvText, newEnvText, readEnvText } from './env-file.ts';

const { port, publicUrl, smtp, mailFrom } = SETTINGS;

const OWN = `# My notes.
export LANG=C
PORT=80
# behind the proxy, see the wiki
PUBLIC_URL='https://old.example'
OTHER_PROGRAM="a b # c"
#SMTP_URL=
`;

function textOf(changed: ReturnType<typeof changeEnvText>): string {
  assert.ok('text' in changed, 'problem' in changed ? changed.problem : '');
  return changed.text;
}

describe('the file of the settings', () => {
  it('changes the lines of its settings alone', () => {
    const changed = textOf(
      changeEnvText(OWN, [
        { setting: publicUrl, value: 'https://new.example' },
        { setting: smtp, value: 'smtp://a:b%23c@mail.example' },
      ]),
    );
    const expected = OWN.replace("'https://old.example'", 'https://new.example').replace(
      '#SMTP_URL=',
      'SMTP_URL=smtp://a:b%23c@mail.example',
    );
    assert.equal(changed, expected);
  });

  it('makes a comment of a setting that is unset, and of a line that it hid', () => {
    const changed = textOf(changeEnvText(`PORT=1\n${OWN}`, [{ setting: port, value: undefined }]));
    assert.equal(changed, `#PORT=\n${OWN.replace('PORT=80', '#PORT=')}`);
  });

  it('adds a setting with its explanation, which is that of the settings', () => {
    const changed = textOf(changeEnvText('A=1', [{ setting: mailFrom, value: 'Till <till@example.com>' }]));
    assert.equal(
      changed,
      'A=1\n\n# The sender of mails. Needed with `SMTP_URL`.\n# Default: none.\nMAIL_FROM=Till <till@example.com>\n',
    );
  });

  it('changes the last of several lines, which is the one in force', () => {
    const changed = textOf(changeEnvText('PORT=1\nPORT=2\n', [{ setting: port, value: '3' }]));
    assert.equal(changed, 'PORT=1\nPORT=3\n');
  });

  it('is not written if a line has a form that would be misread', () => {
    const long = 'NOTE="begins\nPORT=5\nends"\n';
    assert.deepEqual(changeEnvText(long, [{ setting: port, value: '6' }]), {
      problem: 'its line of NOTE has a form that is not understood',
    });
    assert.deepEqual(changeEnvText('', [{ setting: mailFrom, value: `a'b"c` }]), {
      problem: 'the value of MAIL_FROM has line breaks or both kinds of quotes',
    });
  });

  it('gives every value back as it was, whatever it has', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (first, second) => {
        const values = [
          { setting: mailFrom, value: first },
          { setting: port, value: second },
        ];
        const made = newEnvText('# A head.', values);
        if ('problem' in made) return;
        const changed = changeEnvText(made.text, [{ setting: port, value: 'other' }]);
        assert.ok('text' in changed);
        assert.deepEqual({ ...readEnvText(made.text) }, { MAIL_FROM: first, PORT: second });
        assert.deepEqual({ ...readEnvText(changed.text) }, { MAIL_FROM: first, PORT: 'other' });
      }),
    );
  });
});
