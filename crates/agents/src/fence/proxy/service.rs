//! Answers one request of the proxy.

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CONNECTION, HOST, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, UPGRADE,
};
use hyper::http::uri::{Authority, PathAndQuery, Scheme};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use crate::fence::host_pattern::HostPattern;
use crate::fence::proxy::destination::{ConnectError, connect};
use crate::fence::proxy::{NetworkRefusal, RefusalSink};

type ProxyBody = BoxBody<Bytes, hyper::Error>;

const HTTP_PORT: u16 = 80;

pub(super) async fn answer(
    request: Request<Incoming>,
    allow: Arc<[HostPattern]>,
    refused: RefusalSink,
) -> Result<Response<ProxyBody>, Infallible> {
    let Some(target) = target(request.method(), request.uri()) else {
        let said = "Baton's proxy takes CONNECT and absolute http:// addresses";
        return Ok(text(StatusCode::BAD_REQUEST, said));
    };
    let (host, port) = (target.host(), target.port_u16().unwrap_or(HTTP_PORT));
    let stream = match connect(&allow, host, port).await {
        Ok(stream) => stream,
        Err(ConnectError::Refused(reason)) => {
            let said = format!("Baton's fence refuses {host}:{port}: {reason}");
            refused(NetworkRefusal { host: format!("{host}:{port}"), reason });
            return Ok(text(StatusCode::FORBIDDEN, &said));
        }
        Err(ConnectError::Unreachable(reason)) => {
            return Ok(text(StatusCode::BAD_GATEWAY, &format!("{host}:{port} cannot be reached: {reason}")));
        }
    };
    Ok(if request.method() == Method::CONNECT {
        tunnel(request, stream);
        Response::new(empty())
    } else {
        pass_on(request, &target, stream).await
    })
}

/// Where the request goes: what stands in its first line, whatever its headers say.
fn target(method: &Method, uri: &Uri) -> Option<Authority> {
    let authority = uri.authority()?.clone();
    // Names with a user in front are read differently by different programs.
    if authority.as_str().contains('@') {
        return None;
    }
    let is_complete = if method == Method::CONNECT {
        authority.port_u16().is_some()
    } else {
        uri.scheme() == Some(&Scheme::HTTP)
    };
    is_complete.then_some(authority)
}

fn tunnel(request: Request<Incoming>, mut stream: TcpStream) {
    tokio::spawn(async move {
        if let Ok(upgraded) = hyper::upgrade::on(request).await {
            let _ = copy_bidirectional(&mut TokioIo::new(upgraded), &mut stream).await;
        }
    });
}

async fn pass_on(
    mut request: Request<Incoming>,
    target: &Authority,
    stream: TcpStream,
) -> Response<ProxyBody> {
    let path = request.uri().path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
    let headers = request.headers_mut();
    for name in [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, UPGRADE] {
        headers.remove(name);
    }
    headers.remove("proxy-connection");
    headers.remove("keep-alive");
    // The host that was checked, and no other.
    match HeaderValue::from_str(target.as_str()) {
        Ok(host) => drop(headers.insert(HOST, host)),
        Err(_) => return text(StatusCode::BAD_REQUEST, "invalid host"),
    }
    let failed = |error: hyper::Error| text(StatusCode::BAD_GATEWAY, &format!("{target}: {error}"));
    let (mut sender, connection) = match hyper::client::conn::http1::handshake(TokioIo::new(stream)).await {
        Ok(connected) => connected,
        Err(error) => return failed(error),
    };
    tokio::spawn(connection);
    match sender.send_request(request).await {
        Ok(response) => response.map(BodyExt::boxed),
        Err(error) => failed(error),
    }
}

fn text(status: StatusCode, said: &str) -> Response<ProxyBody> {
    let body = Full::new(Bytes::from(format!("{said}\n"))).map_err(|never| match never {}).boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

fn empty() -> ProxyBody {
    Full::new(Bytes::new()).map_err(|never| match never {}).boxed()
}
