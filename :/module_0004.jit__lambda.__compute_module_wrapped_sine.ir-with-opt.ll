; ModuleID = '__compute_module___compute_module_wrapped_sine'
source_filename = "__compute_module___compute_module_wrapped_sine"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nofree norecurse nosync nounwind
define noalias noundef ptr @wrapped_sine(ptr nofree readonly captures(none) %0) local_unnamed_addr #0 {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %3 = load ptr, ptr %2, align 8, !invariant.load !3
  %4 = load ptr, ptr %3, align 8, !invariant.load !3
  %5 = getelementptr inbounds nuw i8, ptr %3, i64 16
  %6 = load ptr, ptr %5, align 8, !invariant.load !3
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %8 = load ptr, ptr %7, align 8
  %9 = load i64, ptr %8, align 4, !invariant.load !3
  %.not.not = icmp slt i64 %9, 1
  br i1 %.not.not, label %wrapped_sine_impl.exit, label %._crit_edge

wrapped_sine_impl.exit:                           ; preds = %1
  %savedstack = tail call ptr @llvm.stacksave.p0()
  %.sroa.0.0.copyload = load <8 x float>, ptr %4, align 1
  %10 = alloca [8 x float], align 64
  %11 = tail call <8 x float> @llvm.sin.v8f32(<8 x float> %.sroa.0.0.copyload)
  store <8 x float> %11, ptr %10, align 64
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 1 dereferenceable(32) %6, ptr noundef nonnull align 64 dereferenceable(32) %10, i64 32, i1 false)
  call void @llvm.stackrestore.p0(ptr %savedstack)
  %savedstack.1 = tail call ptr @llvm.stacksave.p0()
  %12 = getelementptr i8, ptr %4, i64 32
  %.sroa.0.0.copyload.1 = load <8 x float>, ptr %12, align 1
  %13 = alloca [8 x float], align 64
  %14 = tail call <8 x float> @llvm.sin.v8f32(<8 x float> %.sroa.0.0.copyload.1)
  store <8 x float> %14, ptr %13, align 64
  %15 = getelementptr i8, ptr %6, i64 32
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 1 dereferenceable(32) %15, ptr noundef nonnull align 64 dereferenceable(32) %13, i64 32, i1 false)
  call void @llvm.stackrestore.p0(ptr %savedstack.1)
  %savedstack.2 = tail call ptr @llvm.stacksave.p0()
  %16 = getelementptr i8, ptr %4, i64 64
  %.sroa.0.0.copyload.2 = load <8 x float>, ptr %16, align 1
  %17 = alloca [8 x float], align 64
  %18 = tail call <8 x float> @llvm.sin.v8f32(<8 x float> %.sroa.0.0.copyload.2)
  store <8 x float> %18, ptr %17, align 64
  %19 = getelementptr i8, ptr %6, i64 64
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 1 dereferenceable(32) %19, ptr noundef nonnull align 64 dereferenceable(32) %17, i64 32, i1 false)
  call void @llvm.stackrestore.p0(ptr %savedstack.2)
  %savedstack.3 = tail call ptr @llvm.stacksave.p0()
  %20 = getelementptr i8, ptr %4, i64 96
  %.sroa.0.0.copyload.3 = load <8 x float>, ptr %20, align 1
  %21 = alloca [8 x float], align 64
  %22 = tail call <8 x float> @llvm.sin.v8f32(<8 x float> %.sroa.0.0.copyload.3)
  store <8 x float> %22, ptr %21, align 64
  %23 = getelementptr i8, ptr %6, i64 96
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 1 dereferenceable(32) %23, ptr noundef nonnull align 64 dereferenceable(32) %21, i64 32, i1 false)
  call void @llvm.stackrestore.p0(ptr %savedstack.3)
  %savedstack.4 = tail call ptr @llvm.stacksave.p0()
  %24 = getelementptr i8, ptr %4, i64 128
  %.sroa.0.0.copyload.4 = load <8 x float>, ptr %24, align 1
  %25 = alloca [8 x float], align 64
  %26 = tail call <8 x float> @llvm.sin.v8f32(<8 x float> %.sroa.0.0.copyload.4)
  store <8 x float> %26, ptr %25, align 64
  %27 = getelementptr i8, ptr %6, i64 128
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 1 dereferenceable(32) %27, ptr noundef nonnull align 64 dereferenceable(32) %25, i64 32, i1 false)
  call void @llvm.stackrestore.p0(ptr %savedstack.4)
  %savedstack.5 = tail call ptr @llvm.stacksave.p0()
  %28 = getelementptr i8, ptr %4, i64 160
  %.sroa.0.0.copyload.5 = load <8 x float>, ptr %28, align 1
  %29 = alloca [8 x float], align 64
  %30 = tail call <8 x float> @llvm.sin.v8f32(<8 x float> %.sroa.0.0.copyload.5)
  store <8 x float> %30, ptr %29, align 64
  %31 = getelementptr i8, ptr %6, i64 160
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 1 dereferenceable(32) %31, ptr noundef nonnull align 64 dereferenceable(32) %29, i64 32, i1 false)
  call void @llvm.stackrestore.p0(ptr %savedstack.5)
  %savedstack.6 = tail call ptr @llvm.stacksave.p0()
  %32 = getelementptr i8, ptr %4, i64 192
  %.sroa.0.0.copyload.6 = load <8 x float>, ptr %32, align 1
  %33 = alloca [8 x float], align 64
  %34 = tail call <8 x float> @llvm.sin.v8f32(<8 x float> %.sroa.0.0.copyload.6)
  store <8 x float> %34, ptr %33, align 64
  %35 = getelementptr i8, ptr %6, i64 192
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 1 dereferenceable(32) %35, ptr noundef nonnull align 64 dereferenceable(32) %33, i64 32, i1 false)
  call void @llvm.stackrestore.p0(ptr %savedstack.6)
  %savedstack.7 = tail call ptr @llvm.stacksave.p0()
  %36 = getelementptr i8, ptr %4, i64 224
  %.sroa.0.0.copyload.7 = load <8 x float>, ptr %36, align 1
  %37 = alloca [8 x float], align 64
  %38 = tail call <8 x float> @llvm.sin.v8f32(<8 x float> %.sroa.0.0.copyload.7)
  store <8 x float> %38, ptr %37, align 64
  %39 = getelementptr i8, ptr %6, i64 224
  call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 1 dereferenceable(32) %39, ptr noundef nonnull align 64 dereferenceable(32) %37, i64 32, i1 false)
  call void @llvm.stackrestore.p0(ptr %savedstack.7)
  br label %._crit_edge

._crit_edge:                                      ; preds = %wrapped_sine_impl.exit, %1
  ret ptr null
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #1

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <8 x float> @llvm.sin.v8f32(<8 x float>) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn
declare ptr @llvm.stacksave.p0() #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn
declare void @llvm.stackrestore.p0(ptr) #3

attributes #0 = { nofree norecurse nosync nounwind }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { mustprogress nocallback nofree nosync nounwind willreturn }

!llvm.module.flags = !{!0, !1}
!xla_cpu_memory_region_name = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 1, !"xla_dylib_index", i64 7}
!2 = !{!"xla_cpu_emitter__tiled_emitter__hlo_opcode__fusion"}
!3 = !{}
