// CloudFront Function, viewer request (cloudfront-js-2.0): which object answers this URL.
//
// The key-value store holds one value, "release": 12 digits of the generation, then five characters for each path that
// is stored with a .br and a .gz beside it. One value, so that both always belong to one release. pointer.py writes it.
import cf from 'cloudfront';

const PROJECT = 'Educational Market Intelligence';
const ASSETS = ['BTC', 'ETH', 'XRP', 'SOL', 'ALGO', 'XLM', 'HBAR'];
const REASONING = '/api/reasoning.php';
const ONCE = ['/log/tile/', '/files/'];
// A folder cannot be told from a file without asking the bucket; these are the pages of the catalog.
const FOLDERS = ['/arena', '/track-record', '/learn', '/docs', '/pricing', '/methodology', '/glossary', '/status',
  '/changelog'];
const METHODS = 'GET, HEAD, OPTIONS';
const DISCLAIMER = 'For educational use only. This is not financial, investment, trading, tax, legal, betting, ' +
  'gambling or fund-management advice. Confidence describes how strong the evidence is and how far it agrees; it is ' +
  'neither certainty nor a promise of any outcome.';
const PROBLEMS = {
  400: ['bad-request', 'The request cannot be understood', 'Bad Request'],
  404: ['not-found', 'There is nothing at this path', 'Not Found'],
  405: ['method-not-allowed', 'This path answers GET, HEAD and OPTIONS only', 'Method Not Allowed'],
  413: ['body-refused', 'Requests carry no body here', 'Content Too Large'],
  503: ['unavailable', 'No honest answer can be given right now', 'Service Unavailable']
};
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const store = cf.kvs();

async function handler(event) {
  const request = event.request;
  const refused = refusal(request);
  if (refused !== null) return refused;
  const path = plainPath(request.uri);
  if (path === null) return problem(request, 400, 'The path is not valid.', {}, {});
  if (!/^\/[A-Za-z0-9._~\/-]*$/.test(path) || path.indexOf('..') >= 0) return nothing(request);
  let release;
  try {
    release = await store.get('release');
  } catch (error) {
    release = '';
  }
  if (!/^[0-9]{12}/.test(release)) {
    return problem(request, 503, 'Nothing has been published yet.', {}, { 'retry-after': { value: '5' } });
  }
  return toObject(request, path, release);
}

function toObject(request, path, release) {
  const newest = release.slice(0, 12);
  if (ONCE.some(function (start) { return path.indexOf(start) === 0; })) {
    return rewritten(request, '/once' + path, newest);
  }
  const pinned = /^\/g\/([0-9]{12})(\/.*)$/.exec(path);
  const generation = pinned === null ? newest : pinned[1];
  let file = pinned === null ? path : pinned[2];
  // A variant is no file of the site.
  if (/\.(br|gz)$/.test(file)) return nothing(request);
  if (file === REASONING) {
    const asset = asked(request);
    if (ASSETS.indexOf(asset) < 0) {
      const detail = "The asset '" + asset.slice(0, 20) + "' is not supported.";
      return problem(request, 400, detail, { supported_assets: ASSETS }, {});
    }
    if (asset !== ASSETS[0]) file = '/api/reasoning/' + asset + '.json';
  }
  if (file.charAt(file.length - 1) === '/') file += 'index.html';
  else if (FOLDERS.indexOf(file) >= 0) return redirect(path + '/');
  const packed = generation === newest && hasVariants(release, file);
  return rewritten(request, '/g/' + generation + file + (packed ? ending(request) : ''), generation);
}

function rewritten(request, uri, generation) {
  request.uri = uri;
  request.querystring = {};
  // For the response function; the bucket never sees it.
  request.headers['x-emi-generation'] = { value: generation };
  return request;
}

function refusal(request) {
  if (request.method === 'OPTIONS') return preflight();
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return problem(request, 405, 'Use GET or HEAD.', {}, { allow: { value: METHODS } });
  }
  const length = request.headers['content-length'];
  if ((length !== undefined && length.value !== '0') || request.headers['transfer-encoding'] !== undefined) {
    return problem(request, 413, 'Send the request without a body.', {}, {});
  }
  return null;
}

function plainPath(uri) {
  try {
    const path = decodeURIComponent(uri);
    return /[\u0000-\u001f\u007f\\]/.test(path) ? null : path;
  } catch (error) {
    return null;
  }
}

function asked(request) {
  const given = request.querystring.asset;
  if (given === undefined) return ASSETS[0];
  let text = given.multiValue === undefined ? given.value : given.multiValue[0].value;
  try {
    text = decodeURIComponent(text.replace(/\+/g, ' '));
  } catch (error) {
    // Kept as it came: it is no asset either way.
  }
  return text.trim().toUpperCase() || ASSETS[0];
}

function hasVariants(release, path) {
  const wanted = token(path);
  for (let at = 12; at < release.length; at += 5) {
    if (release.slice(at, at + 5) === wanted) return true;
  }
  return false;
}

// Thirty bits of a path; pointer.py computes the same.
function token(path) {
  let sum = 5381;
  for (let at = 0; at < path.length; at += 1) sum = (sum * 33 + path.charCodeAt(at)) % 1073741824;
  let text = '';
  for (let place = 0; place < 5; place += 1) {
    text += LETTERS.charAt(sum % 64);
    sum = Math.floor(sum / 64);
  }
  return text;
}

// The ending of the best stored variant that the client takes (RFC 9110 12.5.3).
function ending(request) {
  const header = request.headers['accept-encoding'];
  if (header === undefined) return '';
  const weights = {};
  header.value.toLowerCase().split(',').forEach(function (part) {
    const pieces = part.split(';');
    const q = pieces.length < 2 ? null : /^\s*q\s*=\s*([0-9.]+)\s*$/.exec(pieces[1]);
    weights[pieces[0].trim()] = q === null ? 1 : Number(q[1]);
  });
  const any = weights['*'] === undefined ? 0 : weights['*'];
  if ((weights.br === undefined ? any : weights.br) > 0) return '.br';
  return (weights.gzip === undefined ? any : weights.gzip) > 0 ? '.gz' : '';
}

function common() {
  return {
    'access-control-allow-origin': { value: '*' },
    'access-control-expose-headers': { value: 'PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, X-Generation' },
    'x-content-type-options': { value: 'nosniff' },
    'referrer-policy': { value: 'no-referrer' },
    'content-security-policy': { value: "default-src 'none'; frame-ancestors 'none'" }
  };
}

function problem(request, status, detail, members, headers) {
  const words = PROBLEMS[status];
  const body = {
    type: 'urn:emi:problem:' + words[0],
    title: words[1],
    status: status,
    detail: detail,
    instance: request.uri,
    project: PROJECT,
    disclaimer: DISCLAIMER
  };
  const all = Object.assign(common(), headers);
  all['content-type'] = { value: 'application/problem+json' };
  all['cache-control'] = { value: 'no-store' };
  return {
    statusCode: status,
    statusDescription: words[2],
    headers: all,
    body: { encoding: 'text', data: JSON.stringify(Object.assign(body, members)) }
  };
}

function nothing(request) {
  return problem(request, 404, 'Nothing is published at this path.', {}, {});
}

function preflight() {
  const headers = common();
  headers.allow = { value: METHODS };
  headers['access-control-allow-methods'] = { value: METHODS };
  headers['access-control-allow-headers'] = {
    value: 'PAYMENT-SIGNATURE, X-PAYMENT, Content-Type, Access-Control-Expose-Headers'
  };
  headers['access-control-max-age'] = { value: '86400' };
  return { statusCode: 204, statusDescription: 'No Content', headers: headers };
}

function redirect(location) {
  const headers = common();
  headers.location = { value: location };
  return { statusCode: 308, statusDescription: 'Permanent Redirect', headers: headers };
}
