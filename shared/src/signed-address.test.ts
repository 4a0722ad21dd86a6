import { expect, it } from 'vitest';
import { isSecret, isSigned } from './signed-address.ts';

it.each([
  ['Amazon S3', 'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=300&X-Amz-Signature=ab'],
  ['Amazon S3, in the older way', 'AWSAccessKeyId=A&Expires=1&Signature=a%3D'],
  ['CloudFront', 'Policy=a&Signature=b&Key-Pair-Id=K'],
  ['Google Cloud Storage', 'X-Goog-Expires=300&X-Goog-Signature=ab'],
  ['Azure', 'sp=r&se=2026-11-21T00%3A00%3A00Z&sv=2024&sig=a%3D'],
  ['GitHub', 'response-content-type=x&jwt=a.b.c'],
  ['Aliyun', 'OSSAccessKeyId=A&Expires=1&Signature=a'],
  ['Aliyun, in the newer way', 'x-oss-date=1&x-oss-signature=a'],
  ['Tencent', 'q-sign-algorithm=sha1&q-signature=a'],
  ['Akamai', 'hdnts=exp=1~hmac=a'],
  ['Akamai, for long', 'hdntl=exp=1~hmac=a'],
  ['Akamai, by its usual name', '__token__=exp=1~hmac=a'],
  ['SharePoint', 'tempauth=a'],
  ['Backblaze', 'Authorization=a'],
  ['nginx', 'md5=a&expires=1'],
  ['somebody who gives tokens', 'access_token=a'],
])('knows what %s signs', (_who, query) => {
  expect(isSigned(`https://cdn.example/a.zip?${query}`)).toBe(true);
});

const LONG = 'q83vEjRWeJ-a_q83vEjRWeJa';

it.each([
  `api_key=${LONG}`,
  `apikey=${LONG}`,
  `x-api-key=${LONG}`,
  `subscription-key=${LONG}`,
  `download_key=${LONG}`,
  `rlkey=${LONG}&dl=1`,
  'license_key=a&suffix=tar.gz',
  'edition=1&licence-key=a',
  'access_key=a',
  'auth_key=a-0-0-b',
  'sesskey=a',
  'password=a',
  'pass=a',
  'passphrase=a',
  'pw=a',
  'passwd=a',
  'passkey=a',
  'client_secret=a',
  'hmac=a',
  `ex=1&is=2&hm=${LONG}&`,
  `PHPSESSID=${LONG}`,
  `sid=${LONG}#part`,
  `session_id=${LONG}`,
  `session-id=${LONG}`,
  `JSESSIONID=${LONG}.node1`,
  `key=${LONG}`,
  `key=${LONG}==`,
  'key=q83vEjRW1%2FeJaq83vEjRWeJa%3D',
  'key=q83vEjRW1/eJaq83vEjRWeJa=',
  'verify=1764288000-q83vEjRW%2FeJaq83vEjRWeJa%3D',
  'verify=1764288000-q83vEjRW/eJaq83vEjRWeJa=',
  `key=eyJh1.${LONG}.${LONG}`,
  `ticket=ST-1-${LONG}`,
  `ticket=ST-1-${LONG}-cas01.example.org`,
  `verify=1764288000-${LONG}%3D`,
])('knows that %s is a secret of who asks, though it is signed by nobody', (query) => {
  const url = `https://repo.example/a.tar.gz?${query}`;
  expect(isSecret(url)).toBe(true);
  expect(isSigned(url)).toBe(false);
});

it('takes what is signed, and a session in a path, for a secret', () => {
  expect(isSecret('https://cdn.example/a.zip?sig=a')).toBe(true);
  expect(isSecret('https://repo.example/a.zip;jsessionid=1A2B?x=1')).toBe(true);
});

it.each([
  'https://repo.example/a.zip',
  'https://repo.example/get?key=releases/v1/file-1.0.tar.gz',
  'https://repo.example/get?key=releases%2Fv1%2Ffile-1.0.tar.gz&x=1',
  'https://repo.example/get?key=datasets%2Fimages-2026-of-all',
  'https://repo.example/get?key=what-is-named-without-one',
  'https://repo.example/get?api-key=267C6CA3&bypass=1&compass=2&monkey=3',
  'https://repo.example/get?verify=1&sid=12&ticket=7&key=a',
  'https://repo.example/get?keyboard=us&passage=1&session=2026-spring&access=public&public_key_id=1',
  'https://repo.example/api_key=1/a.zip',
  'https://repo.example/a.zip#?password=1',
])('takes %s for no secret', (url) => {
  expect(isSecret(url)).toBe(false);
});

const NOW_MS = Date.UTC(2026, 10, 27);
const IN_AN_HOUR = NOW_MS / 1000 + 3600;
const MD5 = 'd41d8cd98f00b204e9800998ecf8427e';

it.each([
  ['Bunny', 'bcdn_token=HS256-Rr7bQ2Vt1x0u9Kc3&expires=1764288000&token_path=%2F/a.zip'],
  ["Google's Media CDN", 'edge-cache-token=Expires=1764288000&KeyName=k&Signature=q83vEjRWeJA/a.zip'],
  ['Akamai', `exp=1764288000~hmac=${MD5}${MD5}/a.zip`],
  ['Akamai, for some paths', `st=1764284400~exp=1764288000~acl=/*~hmac=${MD5}${MD5}/a.zip`],
  ['Akamai, by a name', `files/hdnts=exp=1764288000~hmac=${MD5}/a.zip`],
  ['Akamai, by another name', `files/hdnea=st=1~exp=1764288000~hmac=${MD5}/a.zip`],
  ['nginx', `s/_e4Nc3iduzkWRm01TBBNYw/${IN_AN_HOUR}/a.zip`],
  ['nginx, in hexadecimal', `s/${MD5}/${IN_AN_HOUR}/a.zip`],
])('knows what %s signs in a path', (_who, path) => {
  expect(isSigned(`https://cdn.example/${path}`, NOW_MS)).toBe(true);
});

it.each([
  ['a hash', `https://cdn.example/${MD5}/a.zip`],
  ['a time', `https://cdn.example/nightly/${IN_AN_HOUR}/a.zip`],
  ['a hash and when it was made', `https://cdn.example/${MD5}/${NOW_MS / 1000 - 864_000}/a.zip`],
  ['a hash and a number', `https://cdn.example/${MD5}/2147483647/a.zip`],
  ['a name that grants nothing', 'https://cdn.example/bcdn_token=1/hdnts=2/exp=3~hmac=4/a.zip'],
  ['what grants, behind the path', `https://cdn.example/a.zip#/hdnts=exp=1~hmac=${MD5}`],
])('takes a path with %s for what anybody may ask for', (_what, url) => {
  expect(isSigned(url, NOW_MS)).toBe(false);
});

it.each([
  'https://cdn.example/a.zip',
  'https://cdn.example/signature=1/a.zip',
  'https://cdn.example/a.zip?version=2&design=x&author=y&assign=z',
  'https://cdn.example/a.zip?from=x.example/?sign',
  'https://cdn.example/a.zip#?sig=1',
])('takes %s for what anybody may ask for', (url) => {
  expect(isSigned(url)).toBe(false);
});
